// What NaN and infinities must become: arithmetic on the sets of classes that a float32 number can
// belong to, so that a result whose class is certain is demanded and any other is undecided.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "reference/bound.h"

namespace gdn {

// A set of classes, as bits. A number with a bound may belong to several.
struct Classes {
  enum Bit : uint8_t {
    zero = 1,
    positive = 2,
    negative = 4,
    plus_inf = 8,
    minus_inf = 16,
    nan = 32
  };
  uint8_t bits = 0;

  bool may_be(uint8_t set) const { return (bits & set) != 0; }
  bool only(uint8_t set) const { return (bits & ~set) == 0; }
  friend bool operator==(const Classes&, const Classes&) = default;
};
inline constexpr uint8_t finite_classes = Classes::zero | Classes::positive | Classes::negative;
inline constexpr uint8_t infinite_classes = Classes::plus_inf | Classes::minus_inf;
inline constexpr uint8_t all_classes = finite_classes | infinite_classes | Classes::nan;

// Of the special elements of Bounded, or of a finite number known to within its bound: below
// 2^-126 it may have become zero, from Omega on infinite.
Classes classes_of(double value, double bound);
inline Classes classes_of(const Bounded& all, size_t i) {
  return classes_of(all.value[i], all.bound_of(i));
}

// All that IEEE's product and sum can give. Finite operands are taken to give finite results that
// do not underflow.
Classes product(Classes a, Classes b);
Classes sum(Classes a, Classes b);

// sum_i w_i x_i in any order, x_i known to within bound_i (empty: exact). Where the finite terms
// alone can overflow, anything may come out.
Classes sum_of_products_classes(std::span<const double> w, std::span<const double> x,
                                std::span<const double> bound);
// y sigmoid(y): at -infinity every form takes inf / inf or inf 0; a small result may vanish.
Classes silu_classes(Classes y);

// Writes the special element for a result of these classes: zero alone is exact, and sets that
// hold other finite numbers are undecided.
void put_special(Bounded& result, size_t i, Classes classes);

// True where an ordinary bound can be computed.
bool is_ordinary(double value, double bound);

}  // namespace gdn
