// A float32 engine that errs as far as its contract lets it: functions at the edge of their ulp,
// sums in random orders, fused or not, subnormals kept or flushed. Bounds are attacked with it.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "reference/bound.h"
#include "reference/contract.h"
#include "reference/rng.h"

namespace gdn {

class FloatEngine {
 public:
  FloatEngine(const Contract& contract, uint64_t seed) : contract_(contract), rng_(seed) {}

  Rng& rng() { return rng_; }

  // What arithmetic makes of a number that is about to be used, or has just been made.
  float kept(float x) const {
    const bool subnormal = std::fabs(x) < std::numeric_limits<float>::min();
    return contract_.flushes_subnormals && subnormal ? std::copysign(0.0F, x) : x;
  }
  float add(float a, float b) const { return kept(kept(a) + kept(b)); }
  float multiply(float a, float b) const { return kept(kept(a) * kept(b)); }
  float multiply_add(float a, float b, float c) const {
    return kept(std::fma(kept(a), kept(b), kept(c)));
  }

  float exp(float x) {
    const FunctionErrors& f = contract_.functions;
    const long double truth = std::exp(static_cast<long double>(kept(x)));
    const long double growing = f.exp_ulp_per_x * std::fabs(x) * 0x1p-24L * truth;
    return off(truth, f.exp_ulp, growing);
  }
  float log1p(float x) {
    return off(std::log1p(static_cast<long double>(kept(x))), contract_.functions.log1p_ulp);
  }
  float log(float x) {
    return off(std::log(static_cast<long double>(kept(x))), contract_.functions.log1p_ulp);
  }
  float rsqrt(float x) {
    return off(1 / std::sqrt(static_cast<long double>(kept(x))), contract_.functions.rsqrt_ulp);
  }
  float sqrt(float x) {
    if (contract_.functions.sqrt_ulp == 0.5) return kept(std::sqrt(kept(x)));
    return off(std::sqrt(static_cast<long double>(kept(x))), contract_.functions.sqrt_ulp);
  }
  float sigmoid(float x) {
    const long double truth = 1 / (1 + std::exp(-static_cast<long double>(kept(x))));
    return off(truth, contract_.functions.sigmoid_ulp);
  }
  float divide(float a, float b) {
    if (contract_.functions.division_ulp == 0.5) return kept(kept(a) / kept(b));
    const long double truth = static_cast<long double>(kept(a)) / kept(b);
    return off(truth, contract_.functions.division_ulp);
  }

  // sigmoid(y), or y sigmoid(y) where `times_argument`, in any form of 0 to 3 that the contract
  // allows: by division, by reciprocal, by exp of the negative argument, a function of its own.
  float sigmoid_in_form(float y, bool times_argument, SigmoidForm form) {
    int64_t choice = static_cast<int64_t>(form) - 1;
    if (form == SigmoidForm::any) choice = rng_.range(0, 3);
    if (choice == 2 && y >= 0) choice = rng_.range(0, 1);
    if (choice == 3) return times_argument ? multiply(y, sigmoid(y)) : sigmoid(y);
    if (choice == 2) {
      const float e = exp(y);
      const float denominator = add(1, e);
      if (!times_argument) return divide(e, denominator);
      return rng_.range(0, 1) == 0 ? multiply(y, divide(e, denominator))
                                   : divide(multiply(y, e), denominator);
    }
    const float denominator = add(1, exp(-y));
    if (!times_argument) return divide(1, denominator);
    return choice == 0 ? divide(y, denominator) : multiply(y, divide(1, denominator));
  }

  // A random order: serial along a permutation, with or without fused multiply-add, or a random
  // tree. A declared order of one serial stage is kept to.
  float sum_of_products(std::span<const float> w, std::span<const float> x,
                        const Reduction& reduction) {
    std::vector<size_t> at(w.size());
    for (size_t i = 0; i < at.size(); ++i) at[i] = i;
    const bool declared = reduction.kind == Reduction::Kind::order;
    if (!declared) shuffle(at);
    const bool tree = !declared && rng_.range(0, 1) == 0;
    if (tree) return tree_sum(w, x);
    const bool fused = declared ? reduction.stages[0].fused : rng_.range(0, 1) == 0;
    float sum = multiply(w[at[0]], x[at[0]]);
    for (size_t i = 1; i < at.size(); ++i) {
      sum = fused ? multiply_add(w[at[i]], x[at[i]], sum) : add(sum, multiply(w[at[i]], x[at[i]]));
    }
    return sum;
  }

  // 1 / sqrt(sum) times x, by form.
  float over_root(float x, float sum, NormForm form) {
    int64_t choice = static_cast<int64_t>(form) - 1;
    if (form == NormForm::any) choice = rng_.range(0, 2);
    if (choice == 0) return multiply(x, rsqrt(sum));
    if (choice == 1) return divide(x, sqrt(sum));
    return multiply(x, divide(1, sqrt(sum)));
  }

  // A float32 number of random sign and size within 2^low ... 2^high, every so often a power of
  // two.
  float number(int low, int high) {
    const auto scale = static_cast<int>(rng_.range(low, high));
    const float fraction = rng_.range(0, 7) == 0 ? 1.0F : 0.5F + rng_.unit() / 2;
    return std::ldexp(rng_.range(0, 1) == 0 ? fraction : -fraction, scale);
  }

  // A float32 number within `bound` of x, most often at its ends.
  float near(double x, double bound) {
    const double toward[] = {-1, 1, 0, rng_.signed_unit()};
    const double wanted = x + toward[rng_.range(0, 3)] * bound;
    auto nearest = static_cast<float>(wanted);
    if (nearest > x + bound) nearest = std::nextafter(nearest, -HUGE_VALF);
    if (nearest < x - bound) nearest = std::nextafter(nearest, HUGE_VALF);
    return nearest;
  }

 private:
  static long double ulp_at(long double x) {
    const int exponent = x == 0 ? -126 : std::max(std::ilogb(x), -126);
    return std::ldexp(1.0L, exponent - 23);
  }

  // A float32 number as far as `ulp` units from the truth, on a random side, or nearest to it.
  float off(long double truth, double ulp, long double more = 0) {
    if (std::isnan(truth) || std::isinf(truth)) return static_cast<float>(truth);
    const long double allowed = ulp * ulp_at(truth) + more;
    const long double toward[] = {-1, 1, 0, rng_.signed_unit()};
    auto result = static_cast<float>(truth + toward[rng_.range(0, 3)] * allowed);
    const auto is_outside = [&] { return std::fabs(result - truth) > allowed; };
    if (std::isfinite(result) && is_outside()) {
      result = std::nextafter(result, static_cast<float>(truth));
    }
    if (std::isfinite(result) && is_outside()) result = static_cast<float>(truth);
    return kept(result);
  }

  float tree_sum(std::span<const float> w, std::span<const float> x) {
    std::vector<float> left(w.size());
    for (size_t i = 0; i < w.size(); ++i) left[i] = multiply(w[i], x[i]);
    while (left.size() > 1) {
      const auto last = static_cast<int64_t>(left.size()) - 1;
      std::swap(left[static_cast<size_t>(rng_.range(0, last))], left.back());
      const float one = left.back();
      left.pop_back();
      float& other = left[static_cast<size_t>(rng_.range(0, last - 1))];
      other = add(other, one);
    }
    return left[0];
  }

  void shuffle(std::vector<size_t>& at) {
    for (size_t i = at.size(); i > 1; --i) {
      std::swap(at[i - 1], at[static_cast<size_t>(rng_.range(0, static_cast<int64_t>(i) - 1))]);
    }
  }

  Contract contract_;
  Rng rng_;
};

// An input that an earlier operator left uncertain.
inline Bounded known_to_within(const std::vector<double>& value, const std::vector<double>& bound) {
  Bounded result;
  result.value = value;
  result.bound = bound;
  return result;
}

// Contracts that between them take every branch of the bounds.
inline std::vector<Contract> attacked_contracts() {
  std::vector<Contract> all;
  Reduction serial;
  serial.kind = Reduction::Kind::order;
  serial.stages = {{.kind = Reduction::Stage::Kind::serial}};
  for (int variant = 0; variant < 12; ++variant) {
    Contract c = any_f32_contract();
    c.silu = c.sigmoid = static_cast<SigmoidForm>(variant % 4);
    c.qk_norm_form = c.gated_norm_form = static_cast<NormForm>(variant % 4);
    c.q_scale = static_cast<QScaleForm>(variant % 3);
    c.mean = static_cast<MeanForm>(variant % 3);
    c.softplus = static_cast<SoftplusForm>(1 + variant % 2);
    c.gate_sum_form_below = variant % 3 == 0 ? -std::numeric_limits<double>::infinity() : -20;
    c.flushes_subnormals = variant >= 8;
    if (variant % 4 == 1)
      c.functions = {.exp_ulp = 2, .exp_ulp_per_x = 2, .division_ulp = 2, .sqrt_ulp = 2};
    if (variant % 4 == 2)
      c.functions = {.exp_ulp = 0.5, .log1p_ulp = 0.5, .rsqrt_ulp = 0.5, .sigmoid_ulp = 0.5};
    if (variant % 2 == 1) {
      serial.stages[0].fused = variant % 4 == 1;
      c.in_proj = c.conv = c.qk_norm = c.gated_norm = c.out_proj = serial;
    }
    all.push_back(c);
  }
  return all;
}

}  // namespace gdn
