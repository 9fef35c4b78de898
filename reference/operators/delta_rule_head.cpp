// One head's inputs, errors and special numbers: what all forms of the delta rule begin with.
#ifdef __FAST_MATH__
#error "bounds need IEEE arithmetic: build without fast math"
#endif

#include "reference/operators/delta_rule_head.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "reference/partial_sums.h"

namespace gdn {
namespace {

constexpr double u = unit_roundoff;

DoubleDouble to_double_double(const Real& x) {
  const double high = x.convert_to<double>();
  return std::isfinite(high) ? DoubleDouble(high, Real(x - high).convert_to<double>()) : high;
}

// Exact but for the last place of a DoubleDouble. The last results are remembered, each in the
// place that its argument's bits say: one case is asked about by many invariants, for each engine
// anew.
DoubleDouble exp_of(double x) {
  constexpr size_t places = 2048;
  struct Known {
    bool is_known;
    uint64_t bits;
    double hi, lo;
  };
  static thread_local std::array<Known, places> all = {};
  const auto bits = std::bit_cast<uint64_t>(x);
  Known& known = all[(bits * 0x9e3779b97f4a7c15U) >> 53];
  static_assert(places == size_t{1} << (64 - 53));
  if (!known.is_known || known.bits != bits) {
    const DoubleDouble result = to_double_double(exp(Real(x)));
    known = {true, bits, result.hi, result.lo};
  }
  return {known.hi, known.lo};
}

// a = exp(g): rounded by exp, then in the product with S; exp loses up to its absolute error where
// its result is subnormal. An input off by D changes a by at most exp(g + D) (1 - exp(-D)).
RowDecay log_decay(double g, double g_error, const FloatModel& floats) {
  const double off = g_error + floats.read_error(g);
  RowDecay decay;
  decay.value = std::isinf(g) ? DoubleDouble(0.0) : exp_of(g);
  decay.error = off == 0 ? 0 : std::exp(g + off) * -std::expm1(-off);
  decay.relative = compose(floats.exp_relative(std::abs(g) + off), u);
  // Twice the smallest normal number: beyond it exp's result is normal, its own error included.
  // exp(-infinity) is 0, which rounds nothing.
  const bool subnormal = decay.largest() < 0x1p-125 && std::isfinite(g);
  if (subnormal) decay.lost = floats.exp_absolute * (1 + u);
  decay.absolute = floats.eta;
  return decay;
}

RowDecay linear_decay(double alpha, double alpha_error, const FloatModel& floats) {
  RowDecay decay;
  decay.value = alpha;
  decay.error = alpha_error + floats.read_error(alpha);
  decay.relative = u;
  decay.absolute = floats.eta;
  return decay;
}

// S decayed by one factor, then by another. An engine that multiplies the factors first has as
// many roundings and loses one eta in their product, which S multiplies.
RowDecay both_decays(const RowDecay& one, const RowDecay& two, double eta) {
  RowDecay decay;
  decay.value = one.value * two.value;
  decay.error = one.largest() * two.error + one.error * std::abs(two.value.hi);
  decay.relative = compose(one.relative, two.relative);
  const double second = two.largest() * (1 + two.relative) + two.lost;
  decay.lost = second * one.lost + two.lost * one.largest() * (1 + one.relative) + eta;
  decay.absolute = second * one.absolute + two.absolute;
  decay.larger_factor = std::max(one.largest() * (1 + one.relative), second);
  return decay;
}

struct Numbers {
  std::vector<double> value, error;
  std::vector<Fate> fate;
};

Numbers numbers_of(const Bounded& all, int64_t begin, int64_t count, const FloatModel& floats) {
  Numbers numbers;
  for (size_t i = static_cast<size_t>(begin); i < static_cast<size_t>(begin + count); ++i) {
    const Fate fate = fate_of(all.value[i], all.bound_of(i));
    const bool regular = fate == Fate::regular;
    numbers.fate.push_back(fate);
    numbers.value.push_back(regular ? all.value[i] : 0);
    numbers.error.push_back(regular ? all.bound_of(i) + floats.read_error(all.value[i]) : 0);
  }
  return numbers;
}

Fate worst_of(const std::vector<Fate>& fates) {
  return *std::max_element(fates.begin(), fates.end());
}

double norm(const std::vector<double>& x, const std::vector<double>& error) {
  double squares = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double size = std::abs(x[i]) + error[i];
    squares += size * size;
  }
  return std::sqrt(squares);
}

// -infinity in the log domain is an ordinary gate that is shut; one that is an infinity or NaN, and
// nobody knows which, may be shut too.
Fate fate_of_gate(double g, double bound, bool linear) {
  if (!linear && g == -infinity && bound == 0) return Fate::regular;
  const Fate fate = fate_of(g, bound);
  return !linear && fate == Fate::non_finite && std::isnan(g) ? Fate::undecided : fate;
}

}  // namespace

Fate fate_of(double value, double bound) {
  if (std::isnan(value)) return std::isinf(bound) ? Fate::non_finite : Fate::nan;
  if (std::isinf(value)) return bound == 0 ? Fate::non_finite : Fate::undecided;
  return std::isfinite(bound) ? Fate::regular : Fate::undecided;
}

void settle(Bounded& out, size_t index, Fate fate, const DoubleDouble& value, double bound) {
  const double wide = (bound + std::abs(value.lo)) * bound_slack;
  if (fate == Fate::regular && !(std::abs(value.hi) + wide < overflow_threshold)) {
    fate = Fate::undecided;
  }
  const bool is_number = fate <= Fate::undecided;
  const double shown = std::isfinite(value.hi) ? value.hi : 0;
  out.value[index] = is_number ? shown : std::numeric_limits<double>::quiet_NaN();
  out.bound[index] = fate == Fate::regular ? wide : fate == Fate::nan ? 0 : infinity;
}

DeltaRuleModel::DeltaRuleModel(const Shape& shape, const Dialect& dialect, const Contract& contract)
    : kh(shape.num_k_heads),
      vh(shape.num_v_heads),
      kd(shape.head_k_dim),
      vd(shape.head_v_dim),
      grouped(dialect.head_map == Dialect::HeadMap::grouped),
      linear_gate(dialect.gate_input == Dialect::GateInput::linear_alpha),
      may_fold(contract.decay != DecayForm::first ||
               dialect.decay_order == Dialect::DecayOrder::folded),
      floats(contract),
      sum_eta(contract.flushes_subnormals ? floats.eta : 0),
      u_order(contract.delta_u),
      o_order(contract.delta_o),
      state_storage(dialect.state_storage),
      output_storage(dialect.output_storage),
      scales_output(dialect.scale_on == Dialect::ScaleOn::output) {
  // Half the distance of neighbours: relative for normal numbers, absolute for subnormal ones.
  const bool bf16 = state_storage == Format::bf16;
  const bool f32 = state_storage == Format::f32;
  store_relative = f32 ? 0 : bf16 ? 0x1p-8 : 0x1p-11;
  store_absolute = f32 ? 0 : bf16 ? 0x1p-134 : 0x1p-25;
  // From here on a store rounds to infinity: the largest number and half a step.
  store_max = f32 ? overflow_threshold : bf16 ? 0x1p128 * (1 - 0x1p-9) : 65520.0;
  const Real exact = dialect.scale ? Real(*dialect.scale) : Real(1 / sqrt(Real(kd)));
  scale = to_double_double(exact);
  scale_is_power_of_two = scale.hi > 0 && scale.lo == 0 && is_power_of_two(scale.hi);
  // A given constant is what it is; 1/sqrt(kd) is rounded once, or computed as 1 / sqrtf(kd).
  const double computed = compose(of_inverse(floats.sqrt_relative), floats.division_relative);
  scale_relative = dialect.scale || scale_is_power_of_two             ? 0
                   : contract.q_scale == QScaleForm::rounded_constant ? u
                                                                      : std::max(u, computed);
}

// With d_i the differences, sum |d_i| <= off, each partial sum grows by those beneath it and each
// lies beneath at most m: the first-order part grows by u (m + 1) off, the second-order part by
// u m gamma(m + 1) off, and u (m + 1) + u m gamma(m + 1) <= gamma(m + 1).
double DeltaRuleModel::sum_error(const Reduction& order, std::span<const double> terms,
                                 double off) const {
  const double depth = depth_of(order, static_cast<int64_t>(terms.size()));
  double sizes = off;
  for (const double term : terms) sizes += std::abs(term);
  const double grown = gamma(depth + 1) * off;
  return dot_error(order, terms, {.flushes = floats.flushes, .lost = 0}) + grown +
         overflow_guard((1 + gamma(depth + 1)) * sizes);
}

double DeltaRuleModel::sum_guard(double sizes) const {
  return overflow_guard((1 + gamma(depth_of(u_order, kd) + 1)) * sizes);
}

void DeltaRuleModel::settle_output(Bounded& out, size_t index, Fate fate, const DoubleDouble& sum,
                                   double error) const {
  if (!scales_output) return settle(out, index, fate, sum, error);
  // o^ = fl(scale^ sum^): the constant's error and the product's rounding.
  const double rounding = scale_is_power_of_two ? 0 : compose(scale_relative, u);
  const DoubleDouble o = sum * scale;
  const double bound = std::abs(scale.hi) * error * (1 + rounding) + rounding * std::abs(o.hi) +
                       floats.eta + overflow_guard(std::abs(sum.hi) + error);
  settle(out, index, fate, o, bound);
}

HeadToken::HeadToken(const TokenInputs& in, int64_t v_head, const DeltaRuleModel& model) {
  const int64_t k_head = model.k_head_of(v_head);
  const FloatModel& floats = model.floats;
  const Numbers keys = numbers_of(in.k, k_head * model.kd, model.kd, floats);
  const Numbers queries = numbers_of(in.q, k_head * model.kd, model.kd, floats);
  const Numbers values = numbers_of(in.v, v_head * model.vd, model.vd, floats);
  const Numbers betas = numbers_of(in.beta, v_head, 1, floats);
  k = keys.value, k_error = keys.error;
  q = queries.value, q_error = queries.error;
  v = values.value, v_error = values.error, v_fate = values.fate;
  beta = betas.value[0], beta_error = betas.error[0];
  q_fate = worst_of(queries.fate);
  head_fate = worse(worst_of(keys.fate), betas.fate[0]);

  const size_t head = static_cast<size_t>(v_head);
  RowDecay common;
  if (in.g.size() != 0) {
    const Fate fate = fate_of_gate(in.g.value[head], in.g.bound_of(head), model.linear_gate);
    head_fate = worse(head_fate, fate);
    g = fate == Fate::regular ? in.g.value[head] : 0;
    g_error = fate == Fate::regular ? in.g.bound_of(head) : 0;
    g_minus_infinity = std::isinf(g);
    common = model.linear_gate ? linear_decay(g, g_error, floats) : log_decay(g, g_error, floats);
  }
  decay.assign(static_cast<size_t>(model.kd), common);
  double channel_max = 1;
  if (in.gk.size() != 0) {
    per_channel = true;
    const bool one_a_head = static_cast<int64_t>(in.gk.size()) == model.vh;
    for (size_t i = 0; i < decay.size(); ++i) {
      const size_t at = one_a_head ? head : head * decay.size() + i;
      const Fate fate = fate_of_gate(in.gk.value[at], in.gk.bound_of(at), false);
      head_fate = worse(head_fate, fate);
      const double log = fate == Fate::regular ? in.gk.value[at] : 0;
      const double error = fate == Fate::regular ? in.gk.bound_of(at) : 0;
      const RowDecay channel = log_decay(log, error, floats);
      channel_max = std::max(channel_max, channel.largest());
      decay[i] = in.g.size() != 0 ? both_decays(common, channel, floats.eta) : channel;
    }
  }
  folded_decay = std::max(common.largest() * (1 + common.relative), channel_max);
  for (const RowDecay& row : decay) {
    const bool overflows = !(row.largest() * (1 + row.relative) < overflow_threshold);
    if (overflows || row.may_overflow(1)) head_fate = worse(head_fate, Fate::undecided);
  }
}

std::vector<DoubleDouble> HeadToken::decay_values() const {
  std::vector<DoubleDouble> values;
  for (const RowDecay& row : decay) values.push_back(row.value);
  return values;
}

double HeadToken::k_norm() const { return norm(k, k_error); }
double HeadToken::q_norm() const { return norm(q, q_error); }

double HeadToken::stretch() const {
  const double k_squared = k_norm() * k_norm();
  const double above = (beta + beta_error) * k_squared - 1;
  const double below = 1 + (beta_error - beta) * k_squared;
  return std::max({1.0, above, beta_error > beta ? below : 1.0});
}

void HeadState::spread_fates(const HeadToken& token) {
  for (size_t j = 0; j < fate.size(); ++j) {
    bool is_lost = !std::isfinite(error[j]);
    for (size_t i = 0; i < token.decay.size(); ++i) {
      is_lost |= token.decay[i].may_overflow(std::abs(S[i * fate.size() + j].hi) + error[j]);
    }
    if (is_lost) fate[j] = worse(fate[j], Fate::undecided);
    fate[j] = worse(fate[j], worse(token.head_fate, token.v_fate[j]));
    if (fate[j] == Fate::regular) continue;
    error[j] = 0;
    for (size_t i = j; i < S.size(); i += fate.size()) S[i] = 0.0;
  }
}

}  // namespace gdn
