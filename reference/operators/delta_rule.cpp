// The delta rule, one token, from the state that the engine itself held:
//   t = exp(g) S;  u = S^T k (of t);  d = beta (v - u);  S <- t + k d^T;  o = S^T q (updated S).
//
// Bound of the state. Let the engine's inputs lie within Dk, Dbeta, ... of these (0 where they were
// read back), K = |k| + Dk, B = |beta| + Dbeta, e and tau the relative and absolute error of a
// row's decay (RowDecay). First what the inputs can change in exact arithmetic, element by element:
//   Dt = Da |S|,  Du = sum_i K_i Dt_i + Dk_i |t_i|,  Dd = B (Dv + Du) + Dbeta |v - u|,
//   DS = Dt + K Dd + Dk |d|.
// Then the roundings, at the magnitudes so perturbed (written ~):
//   rt = e |t~| + tau
//   ru = sum_error(k t) + sum_i K_i rt_i                              partial_sums.h
//        folded, alpha (S^T k): + alpha n eta + exp's lost sum_i K_i |S_i| + eta; there
//        S^T k is of the S that has not decayed, and may overflow where u does not
//   rd = B ru (1 + u)^2 + (2u + u^2) B |v~ - u~| + eta               one difference, one product
//   rS = (1 + u)(rt + K rd + u K (|d~| + rd) + eta) + u |S~|         one product, one sum
// A fused multiply-add leaves one of the last two roundings out. All is of first principles from
// fl(a op b) = (a op b)(1 + d) + e; Higham, section 2.2.
//
// Bound of the output: that of the sum, on the state that the engine holds after the token. A state
// stored in bf16 or f16 was rounded after the output was taken: the register lies within half a
// step of what is held.
#ifdef __FAST_MATH__
#error "bounds need IEEE arithmetic: build without fast math"
#endif

#include <algorithm>
#include <cmath>

#include "reference/delta_rule_exact.h"
#include "reference/operators/delta_rule_head.h"
#include "reference/parallel_for.h"

namespace gdn {
namespace {

constexpr double u_round = unit_roundoff;

// What one row's decay can be off by at one element: by the inputs, and by its rounding.
struct DecayError {
  double input, rounding;
};

DecayError decay_error(const RowDecay& row, double before, double decayed,
                       const FloatModel& floats) {
  const double size = std::abs(before);
  const double input = row.error * size + row.largest() * floats.read_error(before);
  return {input, row.relative * (std::abs(decayed) + input) + row.lost * size + row.absolute};
}

// One column of S before the token, its decay, and what follows from both.
struct Column {
  std::span<const double> before, decayed;  // [kd]
  double u, v, d;
};

// Of d: what the inputs can change it by, and what rounding can.
struct DeltaError {
  double input, rounding;
};

DeltaError delta_error(const Column& column, double v_error, const HeadToken& in,
                       const DeltaRuleModel& model) {
  std::vector<double> terms(in.k.size());
  double u_input = 0, u_decay = 0, folded_lost = 0, undecayed = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    const double t = column.decayed[i];
    const DecayError error = decay_error(in.decay[i], column.before[i], t, model.floats);
    terms[i] = t * in.k[i];
    u_input += in.k_size(i) * error.input + in.k_error[i] * std::abs(t);
    u_decay += in.k_size(i) * error.rounding;
    folded_lost += in.k_size(i) * in.decay[i].lost * std::abs(column.before[i]);
    undecayed += in.k_size(i) * std::abs(column.before[i]);
  }
  double u_rounding = model.sum_error(model.u_order, terms, u_input + u_decay) + u_decay;
  const double n = static_cast<double>(terms.size());
  const double eta = model.floats.eta;
  if (model.may_fold) {
    // The factor of 2 is more than (1 + e)(1 + gamma)(1 + u), through which these pass.
    u_rounding += in.folded_decay * 2 * n * (eta + model.sum_eta) + 2 * folded_lost + eta +
                  model.sum_guard(undecayed);
  }
  const double difference = std::abs(column.v - column.u) + v_error + u_input;
  const double B = in.beta_size();
  const double input = B * (v_error + u_input) + in.beta_error * std::abs(column.v - column.u);
  const double rounding = B * (u_rounding + model.sum_eta) * (1 + u_round) * (1 + u_round) +
                          (2 * u_round + u_round * u_round) * B * difference + eta;
  return {input, rounding + overflow_guard(difference + u_rounding)};
}

struct Head {
  std::vector<DoubleDouble> S;
  std::vector<Fate> fate;  // [vd], from the state before
};

// The exact numbers of float32 storage; a column with a number that is not finite is its fate.
// A gate that is exactly 0 turns an infinity into NaN, and so do the sums from there on.
Head head_of(const float* before, const HeadToken& in, const DeltaRuleModel& model) {
  const size_t kd = static_cast<size_t>(model.kd), vd = static_cast<size_t>(model.vd);
  Head head{std::vector<DoubleDouble>(kd * vd), std::vector<Fate>(vd, in.head_fate)};
  for (size_t i = 0; i < kd * vd; ++i) {
    const double s = before[i];
    const RowDecay& row = in.decay[i / vd];
    const bool shut = row.value.hi == 0 && row.error == 0 && row.lost == 0;
    const Fate fate = std::isinf(s) && shut ? Fate::nan : fate_of(s, 0);
    head.fate[i % vd] = worse(head.fate[i % vd], fate);
    if (std::isfinite(s) && row.may_overflow(std::abs(s))) {
      head.fate[i % vd] = worse(head.fate[i % vd], Fate::undecided);
    }
    head.S[i] = std::isfinite(s) ? s : 0.0;
  }
  for (size_t j = 0; j < vd; ++j) head.fate[j] = worse(head.fate[j], in.v_fate[j]);
  return head;
}

double high(const DoubleDouble& x) { return x.hi; }

// Row-major [rows][columns] to [columns][rows]: a column's numbers next to each other.
std::vector<double> by_column(const std::vector<DoubleDouble>& S, size_t columns) {
  std::vector<double> transposed(S.size());
  const size_t rows = S.size() / columns;
  for (size_t i = 0; i < S.size(); ++i) transposed[(i % columns) * rows + i / columns] = high(S[i]);
  return transposed;
}

void judge_state(const float* before, const HeadToken& in, const DeltaRuleModel& model,
                 Bounded& out, size_t begin) {
  Head head = head_of(before, in, model);
  const size_t kd = in.k.size(), vd = in.v.size();
  const std::vector<double> held = by_column(head.S, vd);
  exact::decay_state(head.S, in.decay_values());
  const std::vector<double> decayed = by_column(head.S, vd);
  const std::vector<DoubleDouble> u = exact::read_state(head.S, in.k);
  const std::vector<DoubleDouble> d = exact::delta(in.v, u, in.beta);
  exact::write_state(head.S, in.k, d);
  for (size_t j = 0; j < vd; ++j) {
    const Column column{std::span(held).subspan(j * kd, kd), std::span(decayed).subspan(j * kd, kd),
                        u[j].hi, in.v[j], d[j].hi};
    const DeltaError of_d = delta_error(column, in.v_error[j], in, model);
    const double d_size = std::abs(d[j].hi) + of_d.input + of_d.rounding;
    for (size_t i = 0; i < kd; ++i) {
      const DoubleDouble& S = head.S[i * vd + j];
      const DecayError of_t =
          decay_error(in.decay[i], column.before[i], column.decayed[i], model.floats);
      const double K = in.k_size(i);
      const double input = of_t.input + K * of_d.input + in.k_error[i] * std::abs(d[j].hi);
      const double terms = of_t.rounding + K * of_d.rounding + u_round * K * d_size +
                           model.floats.eta + model.sum_eta;
      const double rounding = (1 + u_round) * terms + u_round * (std::abs(S.hi) + input);
      const double guard =
          overflow_guard(std::abs(column.decayed[i]) + of_t.input + of_t.rounding + K * d_size);
      settle(out, begin + i * vd + j, head.fate[j], S, input + rounding + guard);
    }
  }
}

// What the register may have held beyond the stored number s, and whether s says nothing of it.
double store_error(double s, const DeltaRuleModel& model) {
  return model.store_relative * std::abs(s) + model.store_absolute;
}

void judge_output(const float* after, const HeadToken& in, const DeltaRuleModel& model,
                  Bounded& out, size_t begin) {
  const size_t kd = in.q.size(), vd = in.v.size();
  const bool narrow = model.state_storage != Format::f32;
  std::vector<DoubleDouble> S(kd * vd);
  std::vector<Fate> fate(vd, in.q_fate);
  for (size_t i = 0; i < kd * vd; ++i) {
    const bool overflowed_on_store = narrow && std::isinf(after[i]);
    const Fate own = overflowed_on_store ? Fate::undecided : fate_of(after[i], 0);
    fate[i % vd] = worse(fate[i % vd], own);
    S[i] = std::isfinite(after[i]) ? after[i] : 0.0F;
  }
  const std::vector<DoubleDouble> sum = exact::read_state(S, in.q);
  std::vector<double> terms(kd);
  for (size_t j = 0; j < vd; ++j) {
    double off = 0;
    for (size_t i = 0; i < kd; ++i) {
      const double s = S[i * vd + j].hi;
      terms[i] = s * in.q[i];
      const double s_error = store_error(s, model) + model.floats.read_error(s);
      off += in.q_error[i] * std::abs(s) + in.q_size(i) * s_error;
    }
    const double error = off + model.sum_error(model.o_order, terms, off);
    model.settle_output(out, begin + j, fate[j], sum[j], error);
  }
}

Bounded judged(int64_t count, Format stored) {
  Bounded out = bounded_of(static_cast<size_t>(count));
  out.stored = stored;
  return out;
}

// Heads so few that a thread costs more than they do are not split: some 20 us against 50 ns an
// element of S.
int64_t heads_a_thread(const DeltaRuleModel& model) {
  return std::max<int64_t>(1, 4096 / (model.kd * model.vd));
}

}  // namespace

Bounded delta_rule_state(const std::vector<float>& state_before, const TokenInputs& in,
                         const Shape& shape, const Dialect& dialect, const Contract& contract) {
  const DeltaRuleModel model(shape, dialect, contract);
  Bounded out = judged(shape.state_count(), model.state_storage);
  const size_t head_count = static_cast<size_t>(model.kd * model.vd);
  parallel_for(model.vh, heads_a_thread(model), [&](int64_t first, int64_t last) {
    for (int64_t head = first; head < last; ++head) {
      const size_t begin = static_cast<size_t>(head) * head_count;
      judge_state(state_before.data() + begin, HeadToken(in, head, model), model, out, begin);
    }
  });
  return out;
}

Bounded delta_rule_output(const std::vector<float>& state_after, const Bounded& q,
                          const Shape& shape, const Dialect& dialect, const Contract& contract) {
  const DeltaRuleModel model(shape, dialect, contract);
  Bounded out = judged(shape.v_dim(), model.output_storage);
  // The output asks for q alone.
  const TokenInputs in{.q = q,
                       .k = q,
                       .v = exactly(std::vector<float>(static_cast<size_t>(shape.v_dim()))),
                       .g = {},
                       .gk = {},
                       .beta = exactly(std::vector<float>(static_cast<size_t>(model.vh)))};
  const size_t head_count = static_cast<size_t>(model.kd * model.vd);
  parallel_for(model.vh, heads_a_thread(model), [&](int64_t first, int64_t last) {
    for (int64_t head = first; head < last; ++head) {
      const size_t at = static_cast<size_t>(head);
      judge_output(state_after.data() + at * head_count, HeadToken(in, head, model), model, out,
                   at * static_cast<size_t>(model.vd));
    }
  });
  return out;
}

}  // namespace gdn
