// beta = sigmoid(b);  x = a + dt_bias;  g = -exp(A_log) softplus(x), softplus(x) = log(1 + exp x).
// The softplus is the exact one: the thresholds at +-20 that engines use are errors of theirs and
// stand in the bound. Where A_log comes as -exp(A_log), g = A softplus(x).
#ifdef __FAST_MATH__
#error "bounds need IEEE arithmetic: build without fast math"
#endif

#include <algorithm>
#include <cmath>

#include "reference/exact.h"
#include "reference/functions.h"
#include "reference/operators.h"
#include "reference/special.h"

namespace gdn {

template <class R>
R exact_sigmoid(const R& b) {
  return b < 0 ? R(exp(b) / (1 + exp(b))) : R(1 / (1 + exp(-b)));
}

// log1p keeps all digits where exp(x) is small, and exp cannot overflow.
template <class R>
R exact_softplus(const R& x) {
  return x > 0 ? R(x + log1p(exp(-x))) : R(log1p(exp(x)));
}

// Below -300 softplus is exp(x) to 130 digits, more than any witness has; in one exponential
// neither a large exp(A_log) nor a small exp(x) leaves the range of exponents on its own.
template <class R>
R exact_log_decay(const R& A_log, const R& x) {
  return x < -300 ? R(-exp(A_log + x)) : R(-exp(A_log) * exact_softplus(x));
}

#define GDN_INSTANTIATE(R)                \
  template R exact_sigmoid<R>(const R&);  \
  template R exact_softplus<R>(const R&); \
  template R exact_log_decay<R>(const R&, const R&);
GDN_FOR_EACH_REAL(GDN_INSTANTIATE)
#undef GDN_INSTANTIATE

namespace {

constexpr double u = unit_roundoff;

// The engine's own argument lies within e of b (e: carried, or a subnormal read as zero); over
// [b - e, b + e] sigmoid moves by slope e, and the form's error is relative to a value no larger
// than sigmoid(b) + slope e.
void put_beta(Bounded& beta, size_t i, const Bounded& b, const FloatModel& model,
              SigmoidForm form) {
  const double value = b.value[i];
  if (std::isinf(value) && b.bound_of(i) == 0) {
    beta.value[i] = value > 0 ? 1 : 0;
    return;
  }
  if (!is_ordinary(value, b.bound_of(i))) {
    put_special(beta, i,
                classes_of(b, i).only(Classes::nan) ? Classes{Classes::nan} : Classes{all_classes});
    return;
  }
  const double e = b.bound_of(i) + model.read_error(value, b.bound_of(i));
  const Real exact = exact_sigmoid(Real(value));
  const double carried = sigmoid_slope(value - e, value + e) * e;
  const FunctionError local = sigmoid_error(value - e, value + e, form, model);
  put(beta, i, exact, carried + local.of(static_cast<double>(exact) + carried));
}

// One head's gate: what the engine's x can be, and what it multiplies with. All in Real: exp(A_log)
// overflows double long before g does.
struct Gate {
  Real A_log;      // 0 where the decay is given as -exp(A_log)
  Real amplitude;  // exp(A_log), exact or as given
  bool amplitude_given;
  double amplitude_lost;  // to underflow
  Real x;                 // a + dt_bias, exact
  Real dx;                // how far the engine's own x can lie from it
};

// |x_engine - x|: what a carries, subnormals read as zero, and the rounding of the sum (of two
// float32 numbers, exact where subnormal, but flushed by an engine that flushes).
Real argument_error(double a, double e, double dt_bias, const FloatModel& model) {
  const double before = e + model.read_error(a, e) + model.read_error(dt_bias);
  const Real x = Real(a) + dt_bias;
  return before + u * (abs(x) + before) + (model.flushes ? flush_unit : 0);
}

// |sp_engine - softplus(x)|. The argument's error moves softplus by at most its slope, sigmoid, at
// the upper end. Then one of three branches is taken:
//   x > 20:    x itself; log(1 + exp(-x)) <= exp(-x) is lost.
//   x < -20:   exp(x); exp(x) - log1p(exp x) <= exp(2x) / 2 is lost, and exp has its error.
//   else:      exp's error moves log1p(E) by at most s e / (1 - e) (s = E / (1 + E)), and log1p
//              has its own; without log1p, 1 + E is rounded, which moves the logarithm by u / (1 -
//              u).
// A branch counts where the engine's x can lie in it; the middle one always does, since softplus
// may also be computed without a threshold.
Real softplus_error(const Gate& gate, const FloatModel& model, bool plain_log) {
  const Real low = gate.x - gate.dx;
  const Real high = gate.x + gate.dx;
  const double e = model.exp_relative(static_cast<double>(std::max<Real>(abs(low), abs(high))));
  const Real argument = exact_sigmoid(high) * gate.dx;
  const Real largest = exact_softplus(high);
  const Real inside =
      exact_sigmoid(high) * of_inverse(e) + model.exp_absolute + (plain_log ? of_inverse(u) : 0.0);
  Real branch = inside + model.log1p_relative * (largest + inside) + model.log1p_absolute;
  if (high >= 20) branch = std::max<Real>(branch, Real(exp(-std::max<Real>(low, Real(20)))));
  if (low <= -20) {
    const Real exponential = exp(std::min<Real>(high, Real(-20)));
    const Real lost = exponential * exponential / 2;
    branch = std::max<Real>(branch, Real(exponential * e + model.exp_absolute + lost));
  }
  return argument + branch;
}

// -fl(fl(exp A_log) sp): exp's error, sp's error, one rounded product. Underflow of exp is
// multiplied by sp, that of sp (in softplus_error) by exp(A_log), which can be large: at
// A_log = 80, x = -100 a correct engine is 1.7 % off.
Real product_form_error(const Gate& gate, const FloatModel& model, bool plain_log) {
  const Real sp = exact_softplus(gate.x);
  const Real dsp = softplus_error(gate, model, plain_log);
  const double e =
      gate.amplitude_given ? 0 : model.exp_relative(static_cast<double>(abs(gate.A_log)));
  const double factors = compose(e, u);
  return abs(gate.amplitude) * (dsp + factors * (sp + dsp)) +
         gate.amplitude_lost * (1 + u) * (sp + dsp) + model.eta;
}

// -exp(fl(A_log + x)), F = exp(A_log + x): the argument's errors are dx and the rounding of the
// sum, exp has its own; and F itself lies above -g by F - exp(A_log) log1p(exp x), at most
// exp(A_log) exp(2x) / 2.
Real sum_form_error(const Gate& gate, const FloatModel& model) {
  const Real sum = gate.A_log + gate.x;
  const Real off = gate.dx + u * (abs(sum) + gate.dx) + (model.flushes ? flush_unit : 0);
  const double e = model.exp_relative(static_cast<double>(abs(sum) + off));
  const Real largest = exp(sum + off) * (1 + Real(e));
  return largest - exp(sum) + exp(sum + gate.x) / 2 + model.exp_absolute;
}

// Where exp(A_log) overflows for certain, no finite result can come from the product; what gives
// one below -20 is the sum form.
Real log_decay_error(const Gate& gate, const FloatModel& model, const Contract& contract,
                     bool plain_log) {
  const double e = model.exp_relative(static_cast<double>(abs(gate.A_log)));
  const bool product_overflows =
      !gate.amplitude_given && gate.amplitude * (1 - e) >= overflow_threshold;
  const double sum_form_below = product_overflows ? std::max(contract.gate_sum_form_below, -20.0)
                                                  : contract.gate_sum_form_below;
  if (gate.amplitude_given || gate.x - gate.dx >= sum_form_below) {
    return product_form_error(gate, model, plain_log);
  }
  const Real by_sum = sum_form_error(gate, model);
  if (gate.x + gate.dx < sum_form_below) return by_sum;
  return std::max<Real>(by_sum, product_form_error(gate, model, plain_log));
}

// g where everything is finite. At the edge of overflow both sides are right, so that infinity is
// demanded only where no finite result is within the bound.
void put_decay(Bounded& g, size_t i, const Gate& gate, const FloatModel& model,
               const Contract& contract, bool plain_log) {
  const Real exact = gate.amplitude_given ? Real(-gate.amplitude * exact_softplus(gate.x))
                                          : exact_log_decay(gate.A_log, gate.x);
  const Real error = log_decay_error(gate, model, contract, plain_log);
  const float overflowed = exact < 0 ? -HUGE_VALF : HUGE_VALF;
  if (isinf(exact) || abs(exact) - error >= overflow_threshold) {
    put_special(g, i, classes_of(overflowed, 0));
    return;
  }
  const bool argument_overflows = gate.x + gate.dx >= overflow_threshold;
  if (argument_overflows || !(error < overflow_threshold)) {
    put_special(g, i, {all_classes});
    return;
  }
  // Conversion to double rounds to nearest, a bound must not become smaller.
  put(g, i, exact, std::nextafter(static_cast<double>(error), infinity));
  const double e = model.exp_relative(static_cast<double>(abs(gate.A_log)));
  if (abs(exact) + error >= overflow_threshold) {
    g.tolerated.push_back({i, overflowed, "g overflows to within rounding"});
  } else if (!gate.amplitude_given && gate.amplitude * (1 + e) >= overflow_threshold &&
             gate.x + gate.dx >= contract.gate_sum_form_below) {
    g.tolerated.push_back({i, overflowed, "exp(A_log) overflows, g does not"});
  }
}

// Infinities and NaN. b: NaN gives NaN, +-inf gives 1 and 0. a: NaN gives NaN; +inf gives -inf, or
// NaN is as right where exp(A_log) can underflow (0 inf); -inf gives 0, whatever A_log. A_log:
// +inf gives -inf, or NaN where softplus can underflow; -inf gives 0.
//
// exp(A_log) of an engine, by class. An overflow at a finite A_log is left out: with x = -inf it
// would make NaN of a gate that is 0, which is a fault.
Classes amplitude_classes(double A_log) {
  if (std::isnan(A_log)) return {Classes::nan};
  if (std::isinf(A_log)) return {A_log > 0 ? Classes::plus_inf : Classes::zero};
  const bool may_underflow = std::exp(A_log) < 2 * flush_unit;
  return {static_cast<uint8_t>(Classes::positive | (may_underflow ? Classes::zero : 0))};
}

// g with an infinity or NaN among its arguments: by the classes of what the engine multiplies. For
// x = +inf softplus is inf, for -inf it is 0.
Classes special_decay(const Bounded& a, size_t i, double dt_bias, Classes amplitude) {
  const Classes x = sum(classes_of(a, i), classes_of(dt_bias, 0));
  int softplus = x.bits & (Classes::nan | Classes::plus_inf);
  if (x.may_be(Classes::minus_inf)) softplus |= Classes::zero;
  if (x.may_be(finite_classes)) {
    const double low = a.value[i] - a.bound_of(i) + dt_bias;
    const bool normal = std::exp(low) >= 2 * flush_unit;
    softplus |= Classes::positive | (normal ? 0 : Classes::zero);
  }
  return product({Classes::negative}, product(amplitude, {static_cast<uint8_t>(softplus)}));
}

}  // namespace

Gates gates(const Bounded& a, const Bounded& b, std::span<const float> A_log,
            std::span<const float> dt_bias, const Dialect& dialect, const Contract& contract) {
  const FloatModel model(contract);
  const bool given = dialect.gate_input == Dialect::GateInput::raw_a_exponentiated;
  const bool plain_log = dialect.softplus == Dialect::Softplus::log_one_plus_exp ||
                         contract.softplus != SoftplusForm::log1p_thresholds;
  Gates result{bounded_of(b.size()), bounded_of(a.size())};
  for (size_t i = 0; i < b.size(); ++i) put_beta(result.beta, i, b, model, contract.sigmoid);
  if (dialect.beta == Dialect::Beta::bf16) result.beta.stored = Format::bf16;
  for (size_t i = 0; i < a.size(); ++i) {
    if (is_ordinary(a.value[i], a.bound_of(i)) && std::isfinite(A_log[i]) &&
        std::isfinite(dt_bias[i])) {
      const Gate gate{.A_log = given ? 0 : A_log[i],
                      .amplitude = given ? Real(-A_log[i]) : Real(exp(Real(A_log[i]))),
                      .amplitude_given = given,
                      .amplitude_lost = given ? model.read_error(A_log[i]) : model.exp_absolute,
                      .x = Real(a.value[i]) + dt_bias[i],
                      .dx = argument_error(a.value[i], a.bound_of(i), dt_bias[i], model)};
      put_decay(result.g, i, gate, model, contract, plain_log);
    } else {
      const Classes amplitude = given ? classes_of(-A_log[i], 0) : amplitude_classes(A_log[i]);
      put_special(result.g, i, special_decay(a, i, dt_bias[i], amplitude));
    }
  }
  return result;
}

}  // namespace gdn
