// Elementary functions of float32 whose bits are the same on a GPU and a CPU: exp, log1p, sigmoid,
// rsqrt, and softplus and silu of the same parts. Each is evaluated as an unevaluated sum of two
// doubles, to 2^-53.9 of its value or better, by IEEE operations and Taylor polynomials alone (no
// table, no library function, no fused multiply-add), and rounded to float32 once. All but log1p
// are first evaluated as one double, from a machine's own approximate reciprocal; it is taken where
// it is too far from the midpoint of two float32 numbers for the two to round differently.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstdint>

#include "device/kernels/platform.h"

static_assert(FLT_EVAL_METHOD == 0, "double operations must round to double");

namespace gdn::inline GDN_MACHINE {
namespace elementary {

// The number high + low, exactly, with |low| small beside |high|. The bounds below are relative to
// the value, in units of w = 2^-53; derivations stand in docs/elementary.md.
struct DoublePair {
  double high;
  double low;
};

GDN_HOST_DEVICE inline uint64_t bits_of(double x) { return __builtin_bit_cast(uint64_t, x); }
GDN_HOST_DEVICE inline double double_of(uint64_t bits) { return __builtin_bit_cast(double, bits); }

// Every NaN that a function returns is this one: machines differ in those that they make.
GDN_HOST_DEVICE inline float nan() { return __builtin_bit_cast(float, canonical_nan); }
GDN_HOST_DEVICE inline float positive_infinity() { return __builtin_bit_cast(float, 0x7f800000U); }

// a + b, exactly, where a = 0 or the exponent of a is not below that of b. Dekker 1971.
GDN_HOST_DEVICE inline DoublePair fast_two_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

// a + b, exactly. Knuth; Ogita, Rump and Oishi 2005, algorithm 3.1.
GDN_HOST_DEVICE inline DoublePair two_sum(double a, double b) {
  const double sum = a + b;
  const double part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

// a b, exactly, by Veltkamp's split; no operand here is large or small enough to leave the range.
GDN_HOST_DEVICE inline DoublePair two_product(double a, double b) {
  constexpr double splitter = 0x1p27 + 1;
  const double a_scaled = splitter * a;
  const double a_high = a_scaled - (a_scaled - a);
  const double a_low = a - a_high;
  const double b_scaled = splitter * b;
  const double b_high = b_scaled - (b_scaled - b);
  const double b_low = b - b_high;
  const double product = a * b;
  const double error = ((a_high * b_high - product) + a_high * b_low) + a_low * b_high;
  return {product, error + a_low * b_low};
}

// The float32 nearest to high + low, which must be finite and not -0. The sum is first rounded to
// odd in double; as double has at least two bits more, rounding that to nearest gives what rounding
// the sum would. Boldo and Melquiond 2008, theorem 3; subnormal results included.
GDN_HOST_DEVICE inline float round_once(DoublePair x) {
  const DoublePair sum = fast_two_sum(x.high, x.low);
  uint64_t bits = bits_of(sum.high);
  if (sum.low != 0 && (bits & 1) == 0) {
    bits = (sum.low > 0) == (sum.high > 0) ? bits + 1 : bits - 1;
  }
  return static_cast<float>(double_of(bits));
}

// ln 2, the first part with 42 significant bits, so that its product with an integer below 2^11 is
// exact; together they lack less than 2^-102.
inline constexpr double ln2_high = 0x1.62e42fefa38p-1;
inline constexpr double ln2_low = 0x1.ef35793c7673p-45;

// exp(x) for a float32 number |x| <= 150, within 0.25 w. x = k ln 2 + r, |r| <= 0.3466, and
// exp(r) = 1 + r + r^2 p(r) with p of degree 12: what is cut off lies below 2^-62.
GDN_HOST_DEVICE inline DoublePair exp_pair(double x) {
  constexpr double reciprocal_ln2 = 0x1.71547652b82fep+0;
  constexpr double shift = 0x1.8p52;  // adding it rounds to an integer and leaves it in low bits
  const double shifted = x * reciprocal_ln2 + shift;
  const double k = shifted - shift;
  const uint64_t scale_exponent = bits_of(shifted) - bits_of(shift) + 1023;
  const double scale = double_of(scale_exponent << 52);

  const DoublePair r = two_sum(x - k * ln2_high, -(k * ln2_low));
  const double r2 = r.high * r.high;
  double even = 1.0 / 87178291200.0;  // 1/14!, 1/12!, ..., 1/2!
  even = even * r2 + 1.0 / 479001600.0;
  even = even * r2 + 1.0 / 3628800.0;
  even = even * r2 + 1.0 / 40320.0;
  even = even * r2 + 1.0 / 720.0;
  even = even * r2 + 1.0 / 24.0;
  even = even * r2 + 1.0 / 2.0;
  double odd = 1.0 / 6227020800.0;  // 1/13!, 1/11!, ..., 1/3!
  odd = odd * r2 + 1.0 / 39916800.0;
  odd = odd * r2 + 1.0 / 362880.0;
  odd = odd * r2 + 1.0 / 5040.0;
  odd = odd * r2 + 1.0 / 120.0;
  odd = odd * r2 + 1.0 / 6.0;

  const DoublePair tail = fast_two_sum(r.high, r2 * (even + r.high * odd));
  const DoublePair sum = fast_two_sum(1.0, tail.high);
  const double low = sum.low + (tail.low + r.low * sum.high);
  return {sum.high * scale, low * scale};
}

// log(x) for x = high + low >= 2^-25 with |low| <= w high, within 0.27 w. x = 2^k (1 + f) with
// 1 + f in [sqrt(1/2), sqrt(2)]; s = f / (2 + f); log(1 + f) = 2 atanh(s)
// = f - f^2/2 + s (f^2/2 + s^2 p(s^2)) with p of degree 9: what is cut off lies below 2^-60.
GDN_HOST_DEVICE inline DoublePair log_pair(DoublePair x) {
  constexpr uint64_t one_bits = 0x3ff0000000000000U;
  constexpr uint64_t root_half_bits = 0x3fe6a09e667f3bcdU;
  constexpr uint64_t significand_mask = 0x000fffffffffffffU;
  const uint64_t moved = bits_of(x.high) + (one_bits - root_half_bits);
  const double k = static_cast<double>(static_cast<int>(moved >> 52) - 1023);
  const double f = double_of((moved & significand_mask) + root_half_bits) - 1.0;

  const double s = f / (2.0 + f);
  const double z = s * s;
  const double z2 = z * z;
  double even = 2.0 / 19.0;  // of s^2 (2/3 + 2/5 s^2 + 2/7 s^4 + ... + 2/21 s^18)
  even = even * z2 + 2.0 / 15.0;
  even = even * z2 + 2.0 / 11.0;
  even = even * z2 + 2.0 / 7.0;
  even = even * z2 + 2.0 / 3.0;
  double odd = 2.0 / 21.0;
  odd = odd * z2 + 2.0 / 17.0;
  odd = odd * z2 + 2.0 / 13.0;
  odd = odd * z2 + 2.0 / 9.0;
  odd = odd * z2 + 2.0 / 5.0;

  const DoublePair half_square = two_product(f, 0.5 * f);
  const double correction = s * (half_square.high + z * (even + z * odd));
  const double small = k * ln2_low + x.low / x.high;
  const DoublePair linear = two_sum(k * ln2_high, f);
  const DoublePair quadratic = two_sum(linear.high, -half_square.high);
  const DoublePair sum = two_sum(quadratic.high, correction);
  return {sum.high, (sum.low + quadratic.low) + (linear.low + (small - half_square.low))};
}

// 1 + x, to w^2.
GDN_HOST_DEVICE inline DoublePair one_plus(DoublePair x) {
  const DoublePair sum = two_sum(1.0, x.high);
  return fast_two_sum(sum.high, sum.low + x.low);
}

// 1 / (1 + exp(-x)) for a float32 number |x| <= 150, within 0.26 w: one step of Newton's method.
GDN_HOST_DEVICE inline DoublePair sigmoid_pair(double x) {
  const DoublePair divisor = one_plus(exp_pair(-x));
  const double quotient = 1.0 / divisor.high;
  const DoublePair product = two_product(quotient, divisor.high);
  const double remainder = ((1.0 - product.high) - product.low) - quotient * divisor.low;
  return fast_two_sum(quotient, quotient * remainder);
}

// Near a value: one double, where a pair of them is seldom needed, by 0.4 to 0.6 of the double
// operations (rsqrt: by no quotient and no square root) and short chains of them. Its bits may
// differ between machines, as the seeds do; its bound, derived in docs/elementary.md, holds for
// whatever seeds lie within 2^-18 of the value.

// The seeds of this machine. A test puts others in their place.
struct MachineSeeds {
  GDN_HOST_DEVICE static double reciprocal(double x) { return reciprocal_seed(x); }
  GDN_HOST_DEVICE static double rsqrt(double x) { return rsqrt_seed(x); }
};

// In numbers of double, each at least w of y from the next.
inline constexpr uint32_t near_margin = 64;

// Says yes only where all numbers within 64 w of y round to one float32, |y| from 2^-126 to below
// 2^127: a float32 number is 2^29 numbers of double from the next, the last 29 bits say where y
// lies, and 64 w of y are less than 64 numbers. Near values within 11 w and pairs within 1 w, or 2
// w for the quotient of rsqrt_f32, of the exact one thus round alike where it says yes, and where
// the pairs may round wrongly, it says no on every machine.
GDN_HOST_DEVICE inline bool rounds_as_its_neighbours(double y) {
  constexpr uint32_t between_floats = (1U << 29) - 1;
  constexpr uint32_t midpoint = 1U << 28;
  const uint32_t rest = static_cast<uint32_t>(bits_of(y)) & between_floats;
  return rest - (midpoint - near_margin) > 2 * near_margin;
}

// exp(87) < 2^126 and exp(-87) > 2^-126: up to here exp, 1 + exp, sigmoid and silu keep to the
// range of normal float32 numbers.
inline constexpr float near_max = 87;

// 1 / x for 1 <= x < 2^126, within 2.6 w: from 2^-18 by a cubic step, r (1 + e + e^2) with
// e = 1 - r x.
template <class Seeds = MachineSeeds>
GDN_HOST_DEVICE inline double near_reciprocal(double x) {
  const double r = Seeds::reciprocal(x);
  const double e = 1.0 - r * x;
  return r + r * (e + e * e);
}

// 1 / sqrt(x) for a normal float32 number x > 0, within 3.3 w: from 2^-18 by a cubic step,
// r (1 + e / 2 + 3 e^2 / 8) with e = 1 - r^2 x.
template <class Seeds = MachineSeeds>
GDN_HOST_DEVICE inline double near_rsqrt(double x) {
  const double r = Seeds::rsqrt(x);
  const double e = 1.0 - (r * r) * x;
  return r + r * (e * (0.5 + 0.375 * e));
}

// exp(x) for a float32 number |x| <= 87, within 3.8 w. As exp_pair, with p of degree 10: what is
// cut off lies below 2.2 w.
GDN_HOST_DEVICE inline double near_exp(double x) {
  constexpr double reciprocal_ln2 = 0x1.71547652b82fep+0;
  constexpr double shift = 0x1.8p52;
  const double shifted = x * reciprocal_ln2 + shift;
  const double k = shifted - shift;
  const double scale = double_of((bits_of(shifted) - bits_of(shift) + 1023) << 52);

  const double r = (x - k * ln2_high) - k * ln2_low;
  const double r2 = r * r;
  const double r4 = r2 * r2;
  const double first = (1.0 / 2.0 + r * (1.0 / 6.0)) + r2 * (1.0 / 24.0 + r * (1.0 / 120.0));
  const double second =
      (1.0 / 720.0 + r * (1.0 / 5040.0)) + r2 * (1.0 / 40320.0 + r * (1.0 / 362880.0));
  const double third = (1.0 / 3628800.0 + r * (1.0 / 39916800.0)) + r2 * (1.0 / 479001600.0);
  return (1.0 + (r + r2 * (first + r4 * (second + r4 * third)))) * scale;
}

// 1 / (1 + exp(-x)) for a float32 number |x| <= 87, within 7.4 w.
template <class Seeds = MachineSeeds>
GDN_HOST_DEVICE inline double near_sigmoid(double x) {
  return near_reciprocal<Seeds>(1.0 + near_exp(-x));
}

// log(1 + x) for 2^-29 <= x <= 2^29, within 7.2 w. As log_pair, as 2 s + s z p(z) with z = s^2 and
// p of degree 8: what is cut off lies below 2^-55. What 1 + x loses is added undivided, which
// counts for 1 w at most, and from x = 1 on left out.
template <class Seeds = MachineSeeds>
GDN_HOST_DEVICE inline double near_log_of_one_plus(double x) {
  constexpr uint64_t one_bits = 0x3ff0000000000000U;
  constexpr uint64_t root_half_bits = 0x3fe6a09e667f3bcdU;
  constexpr uint64_t significand_mask = 0x000fffffffffffffU;
  const double sum = 1.0 + x;
  const double lost = x < 1 ? x - (sum - 1.0) : 0.0;
  const uint64_t moved = bits_of(sum) + (one_bits - root_half_bits);
  const double k = static_cast<double>(static_cast<int>(moved >> 52) - 1023);
  const double f = double_of((moved & significand_mask) + root_half_bits) - 1.0;

  const double s = f * near_reciprocal<Seeds>(2.0 + f);
  const double z = s * s;
  const double z2 = z * z;
  const double z4 = z2 * z2;
  const double first = (2.0 / 3.0 + z * (2.0 / 5.0)) + z2 * (2.0 / 7.0 + z * (2.0 / 9.0));
  const double second = (2.0 / 11.0 + z * (2.0 / 13.0)) + z2 * (2.0 / 15.0 + z * (2.0 / 17.0));
  const double p = first + z4 * (second + z4 * (2.0 / 19.0));
  return k * ln2_high + ((s + s) + (s * z * p + (k * ln2_low + lost)));
}

// log(1 + exp(x)) for a float32 number from -20 to 20, within 11 w.
template <class Seeds = MachineSeeds>
GDN_HOST_DEVICE inline double near_softplus(double x) {
  return near_log_of_one_plus<Seeds>(near_exp(x));
}

// Beyond these arguments exp lies below half the smallest subnormal or above every float32 number,
// and sigmoid rounds to 0 or 1, so that the argument's value no longer matters.
GDN_HOST_DEVICE inline double clamped(float x) {
  if (x < -150.0F) return -150.0;
  if (x > 150.0F) return 150.0;
  return x;
}

}  // namespace elementary

// Correctly rounded for every float32 number. exp(-inf) = 0, exp(inf) = inf.
GDN_HOST_DEVICE inline float exp_f32(float x) {
  if (std::fabs(x) <= elementary::near_max) {
    const double near = elementary::near_exp(x);
    if (elementary::rounds_as_its_neighbours(near)) return static_cast<float>(near);
  }
  if (x != x) return elementary::nan();
  return elementary::round_once(elementary::exp_pair(elementary::clamped(x)));
}

// Correctly rounded for every float32 number. log1p(-0) = -0, log1p(-1) = -inf, log1p(inf) = inf,
// NaN below -1. For |x| < 2^-26 the result is x: log1p(x) is nearer to it than 2^-26.9 |x|, and
// no midpoint of two float32 numbers is nearer than 2^-25 |x|.
GDN_HOST_DEVICE inline float log1p_f32(float x) {
  if (!(x >= -1.0F)) return elementary::nan();
  if (x == -1.0F) return -elementary::positive_infinity();
  if (x == elementary::positive_infinity() || std::fabs(x) < 0x1p-26F) return x;
  return elementary::round_once(elementary::log_pair(elementary::two_sum(1.0, x)));
}

// 1 / (1 + exp(-x)), correctly rounded for every float32 number. 0 at -inf, 1 at inf.
GDN_HOST_DEVICE inline float sigmoid_f32(float x) {
  if (std::fabs(x) <= elementary::near_max) {
    const double near = elementary::near_sigmoid(x);
    if (elementary::rounds_as_its_neighbours(near)) return static_cast<float>(near);
  }
  if (x != x) return elementary::nan();
  return elementary::round_once(elementary::sigmoid_pair(elementary::clamped(x)));
}

// 1 / sqrt(x), correctly rounded for every float32 number. rsqrt(0) = inf, rsqrt(-0) = -inf,
// rsqrt(inf) = 0, NaN below 0. Square root and quotient are off by at most 2 w together; that no
// 1/sqrt of a 24-bit number lies so near a midpoint is proven by trying all of them.
GDN_HOST_DEVICE inline float rsqrt_f32(float x) {
  if (x >= 0x1p-126F && x < elementary::positive_infinity()) {
    const double near = elementary::near_rsqrt(x);
    if (elementary::rounds_as_its_neighbours(near)) return static_cast<float>(near);
  }
  if (!(x >= 0.0F)) return elementary::nan();
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x)));
}

// x above 20, exp(x) below -20, else log(1 + exp(x)), each correctly rounded. Above 20 that is
// log(1 + exp(x)) correctly rounded too; below -20 it is above it by exp(x)/2 < 2^-29.8 of it.
GDN_HOST_DEVICE inline float softplus_f32(float x) {
  if (x != x) return elementary::nan();
  if (x > 20.0F) return x;
  if (x < -20.0F) return exp_f32(x);
  const double near = elementary::near_softplus(x);
  if (elementary::rounds_as_its_neighbours(near)) return static_cast<float>(near);
  return elementary::round_once(
      elementary::log_pair(elementary::one_plus(elementary::exp_pair(x))));
}

// silu(x) where one double decides how it is rounded, by few registers. The near product is within
// 8.5 w, and from |x| = 2^-100 on far above the subnormal numbers.
struct NearSilu {
  bool is_decided;
  float silu;  // where it is
};
GDN_HOST_DEVICE inline NearSilu near_silu(float x) {
  const bool is_near = std::fabs(x) <= elementary::near_max && std::fabs(x) >= 0x1p-100F;
  if (!is_near) return {};
  const double near = x * elementary::near_sigmoid(x);
  return {elementary::rounds_as_its_neighbours(near), static_cast<float>(near)};
}

// x sigmoid(x) with one rounding, correctly rounded for every float32 number. silu(-0) = -0,
// silu(inf) = inf; silu(-inf) is NaN, as the product -inf 0 is. Below -150 it rounds to -0.
GDN_HOST_DEVICE inline float silu_f32(float x) {
  const NearSilu near = near_silu(x);
  if (near.is_decided) return near.silu;
  if (x != x || x == -elementary::positive_infinity()) return elementary::nan();
  if (x == 0.0F || x > 150.0F) return x;
  const double y = elementary::clamped(x);
  const elementary::DoublePair sigmoid = elementary::sigmoid_pair(y);
  const elementary::DoublePair product = elementary::two_product(y, sigmoid.high);
  return elementary::round_once({product.high, product.low + y * sigmoid.low});
}

}  // namespace gdn::inline GDN_MACHINE
