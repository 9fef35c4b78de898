// What the local, running and chunked forms of the delta rule share: one head's inputs of one
// token with their errors, what a contract says of its arithmetic, and the fate of numbers that
// are not finite.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/double_double.h"
#include "reference/functions.h"
#include "reference/recurrence.h"

namespace gdn {

// What is certain of an engine's number, in rising order: the later one wins where two meet.
// A column of S that meets a NaN is NaN from then on, in every order: u = S^T k takes it in, so
// does d, and k d^T gives it to every row, a zero in k included (0 NaN = NaN). The same with
// infinity gives NaN or an infinity, which one is free. What float32 may overflow is undecided.
enum class Fate : uint8_t { regular, undecided, non_finite, nan };
constexpr Fate worse(Fate a, Fate b) { return a < b ? b : a; }
Fate fate_of(double value, double bound);

// Writes one element. A regular one whose magnitude can reach overflow, or whose bound is no
// number, becomes undecided. The part of `value` that a double cannot hold is added to the bound.
void settle(Bounded& out, size_t index, Fate fate, const DoubleDouble& value, double bound);

// Infinite where a float32 number of this magnitude may overflow, else 0: added to a bound.
inline double overflow_guard(double magnitude) {
  return magnitude < overflow_threshold ? 0 : infinity;
}

// What dialect and contract say, as the delta rule needs it.
struct DeltaRuleModel {
  DeltaRuleModel(const Shape& shape, const Dialect& dialect, const Contract& contract);

  // How far a float32 sum in this order can lie from the sum of `terms`, if its own terms differ
  // from these by `off` in total; without `off` itself.
  double sum_error(const Reduction& order, std::span<const double> terms, double off) const;
  // Infinite where u's sum over terms of these sizes in all may overflow on the way, else 0.
  double sum_guard(double sizes) const;
  // o = scale S^T q from exact S^T q, whose float32 sum lies within `error` of it.
  void settle_output(Bounded& out, size_t index, Fate fate, const DoubleDouble& sum,
                     double error) const;
  int64_t k_head_of(int64_t v_head) const { return grouped ? v_head / (vh / kh) : v_head % kh; }

  int64_t kh, vh, kd, vd;
  bool grouped;      // head map
  bool linear_gate;  // g holds alpha itself
  bool may_fold;     // u = alpha (S^T k) is allowed in place of (alpha S)^T k
  FloatModel floats;
  double sum_eta;  // what an addition may lose to underflow: nothing unless subnormals are flushed
  Reduction u_order, o_order;
  Format state_storage, output_storage;
  double store_relative, store_absolute, store_max;  // rounding of S on store
  bool scales_output;
  bool scale_is_power_of_two;
  DoubleDouble scale;
  double scale_relative;  // of the engine's constant
};

// One row's decay a: the engine's a^ S^ differs from a S by
//   error |S| (its inputs), relative |a^ S| + lost |S| + absolute (its rounding).
struct RowDecay {
  DoubleDouble value = 1.0;
  double error = 0, relative = 0, lost = 0, absolute = 0;
  // Where S decays by two factors, the larger: S times it may overflow where a S is far from that.
  double larger_factor = 0;
  double largest() const { return std::abs(value.hi) + error; }
  bool may_overflow(double state_size) const {
    return !(larger_factor * state_size < overflow_threshold);
  }
};

// One token of one head. What is not finite stands as 0 and in the fates.
struct HeadToken {
  HeadToken(const TokenInputs& in, int64_t v_head, const DeltaRuleModel& model);

  std::vector<double> k, q, v;
  std::vector<double> k_error, q_error, v_error;
  double beta = 0, beta_error = 0;
  double g = 0, g_error = 0;    // log decay of the head, where there is one
  std::vector<RowDecay> decay;  // [kd]
  double folded_decay = 0;      // the largest factor that a folding engine may take out of the sum
  bool per_channel = false;     // gk is given
  bool g_minus_infinity = false;
  Fate head_fate = Fate::regular;  // from k, g, gk, beta: falls on all columns
  Fate q_fate = Fate::regular;
  std::vector<Fate> v_fate;

  std::vector<DoubleDouble> decay_values() const;
  double k_size(size_t i) const { return std::abs(k[i]) + k_error[i]; }
  double q_size(size_t i) const { return std::abs(q[i]) + q_error[i]; }
  double beta_size() const { return std::abs(beta) + beta_error; }
  double k_norm() const;  // of k_size
  double q_norm() const;
  // The largest factor by which (I - beta k k^T) stretches: its eigenvalues are 1 and
  // 1 - beta |k|^2, for any k and beta within their errors.
  double stretch() const;
};

// Exact state of one head, and per column the norm of the error that an engine may have in it.
struct HeadState {
  std::vector<DoubleDouble> S;  // [kd][vd]
  std::vector<double> error;    // [vd]
  std::vector<Fate> fate;       // [vd]

  // Marks what cannot be told any more, and what came in with the token.
  void spread_fates(const HeadToken& token);
};

// One token as a loop takes it: state, error and output, at index `begin` of `out`.
void advance(HeadState& state, const HeadToken& token, const DeltaRuleModel& model, Bounded& out,
             size_t begin);
// The tokens of one chunk of a contract that evaluates them together; out[t] is that of token t.
void advance_chunk(HeadState& state, std::span<const HeadToken> tokens, int64_t chunk_tokens,
                   const DeltaRuleModel& model, std::span<Bounded> out, size_t begin);

}  // namespace gdn
