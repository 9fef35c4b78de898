// Set arithmetic on classes: each pair of members in turn, by IEEE's rules.
#include "reference/special.h"

#include <cmath>

namespace gdn {
namespace {

constexpr uint8_t class_bits[] = {Classes::zero,     Classes::positive,  Classes::negative,
                                  Classes::plus_inf, Classes::minus_inf, Classes::nan};

bool is_negative(uint8_t bit) { return bit == Classes::negative || bit == Classes::minus_inf; }

uint8_t product_of(uint8_t a, uint8_t b) {
  if (a == Classes::nan || b == Classes::nan) return Classes::nan;
  const bool infinite = (a & infinite_classes) != 0 || (b & infinite_classes) != 0;
  if (a == Classes::zero || b == Classes::zero) return infinite ? Classes::nan : Classes::zero;
  const bool minus = is_negative(a) != is_negative(b);
  if (infinite) return minus ? Classes::minus_inf : Classes::plus_inf;
  return minus ? Classes::negative : Classes::positive;
}

uint8_t sum_of(uint8_t a, uint8_t b) {
  if (a == Classes::nan || b == Classes::nan) return Classes::nan;
  const bool a_infinite = (a & infinite_classes) != 0;
  const bool b_infinite = (b & infinite_classes) != 0;
  if (a_infinite && b_infinite) return a == b ? a : uint8_t{Classes::nan};
  if (a_infinite) return a;
  if (b_infinite) return b;
  if (a == Classes::zero) return b;
  if (b == Classes::zero || a == b) return a;
  return finite_classes;
}

template <class Rule>
Classes each_pair(Classes a, Classes b, const Rule& rule) {
  Classes all;
  for (const uint8_t one : class_bits) {
    if (!a.may_be(one)) continue;
    for (const uint8_t two : class_bits) {
      if (b.may_be(two)) all.bits |= rule(one, two);
    }
  }
  return all;
}

}  // namespace

bool is_ordinary(double value, double bound) {
  return std::isfinite(value) && std::isfinite(bound);
}

Classes classes_of(double value, double bound) {
  if (std::isnan(value)) {
    const int infinite = std::isinf(bound) ? infinite_classes : 0;
    return {static_cast<uint8_t>(Classes::nan | infinite)};
  }
  if (std::isinf(bound)) return {all_classes};
  if (std::isinf(value)) return {value > 0 ? Classes::plus_inf : Classes::minus_inf};
  const double low = value - bound;
  const double high = value + bound;
  if (low == 0 && high == 0) return {Classes::zero};
  int bits = 0;
  if (low < flush_unit && high > -flush_unit) bits |= Classes::zero;
  if (high > 0) bits |= Classes::positive;
  if (low < 0) bits |= Classes::negative;
  if (high >= overflow_threshold) bits |= Classes::plus_inf;
  if (low <= -overflow_threshold) bits |= Classes::minus_inf;
  return {static_cast<uint8_t>(bits)};
}

Classes product(Classes a, Classes b) { return each_pair(a, b, product_of); }

Classes sum(Classes a, Classes b) { return each_pair(a, b, sum_of); }

Classes sum_of_products_classes(std::span<const double> w, std::span<const double> x,
                                std::span<const double> bound) {
  Classes total{Classes::zero};
  double finite_abs = 0;
  for (size_t i = 0; i < w.size(); ++i) {
    const double e = bound.empty() ? 0 : bound[i];
    if (std::isfinite(w[i]) && is_ordinary(x[i], e)) {
      finite_abs += std::abs(w[i]) * (std::abs(x[i]) + e);
    } else {
      total = sum(total, product(classes_of(w[i], 0), classes_of(x[i], e)));
    }
  }
  // gamma is below 1 for any sum that float32 can hold with meaning: 2 covers 1 + gamma.
  const bool may_overflow = !(2 * finite_abs < overflow_threshold);
  return sum(total, {may_overflow ? all_classes : finite_classes});
}

Classes silu_classes(Classes y) {
  int bits = y.bits & ~Classes::minus_inf;
  if (y.may_be(Classes::minus_inf)) bits |= Classes::nan;
  if (y.may_be(Classes::negative)) bits |= Classes::zero;
  return {static_cast<uint8_t>(bits)};
}

void put_special(Bounded& result, size_t i, Classes classes) {
  const double not_a_number = std::numeric_limits<double>::quiet_NaN();
  result.value[i] = 0;
  result.bound[i] = infinity;
  if (classes.only(Classes::zero)) {
    result.bound[i] = 0;
  } else if (classes.only(Classes::nan)) {
    result.value[i] = not_a_number;
    result.bound[i] = 0;
  } else if (classes.only(Classes::plus_inf) || classes.only(Classes::minus_inf)) {
    result.value[i] = classes.only(Classes::plus_inf) ? infinity : -infinity;
    result.bound[i] = 0;
  } else if (classes.only(Classes::nan | infinite_classes)) {
    result.value[i] = not_a_number;
  }
}

}  // namespace gdn
