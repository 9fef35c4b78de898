// The functions of device/kernels/elementary.cuh beside what each must return: the exact value
// rounded to float32 once. A double that the C library gives decides where it can; within 2^-45
// of a midpoint, where it cannot, MPFR does.
#pragma once

#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "device/kernels/elementary.cuh"

namespace gdn {

// 200 bits: an irrational result would have to agree with a midpoint in 175 bits behind it to be
// rounded wrongly, against some 30 that a search over all float32 arguments can be expected to
// meet.
class Exact {
 public:
  Exact() { mpfr_init2(value_, 200); }
  explicit Exact(double x) : Exact() { mpfr_set_d(value_, x, MPFR_RNDN); }
  ~Exact() { mpfr_clear(value_); }
  Exact(const Exact&) = delete;
  Exact& operator=(const Exact&) = delete;
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

inline void exact_exp(mpfr_ptr y) { mpfr_exp(y, y, MPFR_RNDN); }
inline void exact_log1p(mpfr_ptr y) { mpfr_log1p(y, y, MPFR_RNDN); }
inline void exact_rsqrt(mpfr_ptr y) { mpfr_rec_sqrt(y, y, MPFR_RNDN); }
inline void exact_sigmoid(mpfr_ptr y) {
  mpfr_neg(y, y, MPFR_RNDN);
  mpfr_exp(y, y, MPFR_RNDN);
  mpfr_add_ui(y, y, 1, MPFR_RNDN);
  mpfr_ui_div(y, 1, y, MPFR_RNDN);
}
inline void exact_silu(mpfr_ptr y) {
  Exact x;
  mpfr_set(x.get(), y, MPFR_RNDN);
  exact_sigmoid(y);
  mpfr_mul(y, y, x.get(), MPFR_RNDN);
}
inline void exact_softplus(mpfr_ptr y) {
  const double x = mpfr_get_d(y, MPFR_RNDN);
  if (x <= 20) mpfr_exp(y, y, MPFR_RNDN);
  if (x <= 20 && x >= -20) mpfr_log1p(y, y, MPFR_RNDN);
}

struct ElementaryFunction {
  std::string_view name;
  float (*evaluate)(float);
  double (*approximate)(double);
  void (*exact)(mpfr_ptr);
};

inline constexpr ElementaryFunction elementary_functions[] = {
    {"exp", exp_f32, [](double x) { return std::exp(x); }, exact_exp},
    {"log1p", log1p_f32, [](double x) { return std::log1p(x); }, exact_log1p},
    {"sigmoid", sigmoid_f32, [](double x) { return 1 / (1 + std::exp(-x)); }, exact_sigmoid},
    {"rsqrt", rsqrt_f32, [](double x) { return 1 / std::sqrt(x); }, exact_rsqrt},
    {"softplus", softplus_f32,
     [](double x) { return x > 20    ? x
                           : x < -20 ? std::exp(x)
                                     : std::log1p(std::exp(x)); },
     exact_softplus},
    {"silu", silu_f32, [](double x) { return x / (1 + std::exp(-x)); }, exact_silu},
};

struct Truth {
  float nearest;        // the exact value rounded to float32
  double approximate;   // the exact value within 2^-45 of it
  bool multiprecision;  // did it take MPFR to decide?
};

// glibc's exp and log1p are within 1 ulp of double (its manual, "Errors in Math Functions"), and at
// most three more roundings follow, so each approximation is within 2^-50 of its value, its own
// overflow and underflow aside, which lie beyond those of float32. 2^-45 leaves 32 times that.
inline Truth truth_of(const ElementaryFunction& function, float x) {
  const double value = function.approximate(x);
  const float below = static_cast<float>(value * (1 - 0x1p-45));
  const float above = static_cast<float>(value * (1 + 0x1p-45));
  if (below == above || std::isnan(value)) return {above, value, false};
  Exact y(x);
  function.exact(y.get());
  return {mpfr_get_flt(y.get(), MPFR_RNDN), value, true};
}

// |got - exact| in units of the last place that a float32 number of the exact value's size has.
inline double error_ulp(float got, const Truth& truth) {
  if (std::bit_cast<uint32_t>(got) == std::bit_cast<uint32_t>(truth.nearest) &&
      !std::isfinite(got)) {
    return 0;
  }
  const int exponent = std::max(std::ilogb(truth.approximate), -126);
  return std::ldexp(std::fabs(got - truth.approximate), 23 - exponent);
}

// Equal bits; every NaN must be the canonical one.
inline bool correctly_rounded(float got, const Truth& truth) {
  const uint32_t want =
      std::isnan(truth.nearest) ? canonical_nan : std::bit_cast<uint32_t>(truth.nearest);
  return std::bit_cast<uint32_t>(got) == want;
}

}  // namespace gdn
