// Numbers of about 106 bits as unevaluated sums of two doubles, |lo| <= ulp(hi) / 2.
// Source: Dekker, A floating-point technique for extending the available precision (1971);
// Joldes, Muller and Popescu, Tight and rigorous error bounds for basic building blocks of
// double-word arithmetic, ACM TOMS 44 (2017): sums err by 3 v^2 + 13 v^3, products by double by
// 3 v^2, products by 7 v^2 relative, v = 2^-53; an underflowing low part adds at most 2^-1072.
#pragma once

#ifdef __FAST_MATH__
#error "double-word arithmetic needs IEEE arithmetic: build without fast math"
#endif

namespace gdn {

// The unit roundoff of each operation below: 7 v^2 < 2^-103.
inline constexpr double double_double_roundoff = 0x1p-103;

struct DoubleDouble {
  double hi = 0;
  double lo = 0;
  DoubleDouble() = default;
  DoubleDouble(double high) : hi(high) {}
  DoubleDouble(double high, double low) : hi(high), lo(low) {}
};

inline DoubleDouble two_sum(double a, double b) {
  const double sum = a + b;
  const double from_b = sum - a;
  return {sum, (a - (sum - from_b)) + (b - from_b)};
}

// Needs |a| >= |b| or a = 0.
inline DoubleDouble quick_two_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

// Exact while |a|, |b| < 2^996 and the product is 0 or above 2^-969.
inline DoubleDouble two_product(double a, double b) {
  constexpr double splitter = 0x1p27 + 1;
  const double a_scaled = splitter * a, b_scaled = splitter * b;
  const double a_high = a_scaled - (a_scaled - a), b_high = b_scaled - (b_scaled - b);
  const double a_low = a - a_high, b_low = b - b_high;
  const double product = a * b;
  const double error =
      ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
  return {product, error};
}

inline DoubleDouble operator-(const DoubleDouble& a) { return {-a.hi, -a.lo}; }

inline DoubleDouble operator+(const DoubleDouble& a, const DoubleDouble& b) {
  const DoubleDouble high = two_sum(a.hi, b.hi);
  const DoubleDouble low = two_sum(a.lo, b.lo);
  const DoubleDouble sum = quick_two_sum(high.hi, high.lo + low.hi);
  return quick_two_sum(sum.hi, low.lo + sum.lo);
}
inline DoubleDouble operator-(const DoubleDouble& a, const DoubleDouble& b) { return a + (-b); }

inline DoubleDouble operator*(const DoubleDouble& a, double b) {
  const DoubleDouble product = two_product(a.hi, b);
  return quick_two_sum(product.hi, product.lo + a.lo * b);
}

inline DoubleDouble operator*(const DoubleDouble& a, const DoubleDouble& b) {
  const DoubleDouble product = two_product(a.hi, b.hi);
  return quick_two_sum(product.hi, product.lo + (a.hi * b.lo + a.lo * b.hi));
}

inline DoubleDouble& operator+=(DoubleDouble& a, const DoubleDouble& b) { return a = a + b; }
inline DoubleDouble& operator*=(DoubleDouble& a, const DoubleDouble& b) { return a = a * b; }

}  // namespace gdn
