// What a check says, and the comparisons that every check shares: no check compares on its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "reference/bound.h"

namespace gdn {

// Only `holds` is green; the others are counted and shown. Ordered from best to worst for both().
enum class Outcome : uint8_t {
  holds,
  not_applicable,
  undecided,   // a bound is infinite, or the reference too coarse, or a tolerated result came
  suspicious,  // statistical tier only
  engine_error,
  fails,
};
std::string_view name_of(Outcome outcome);

struct Verdict {
  Outcome outcome = Outcome::not_applicable;
  double worst_ratio = 0;  // error / bound of the worst element; 0 / 0 counts as 0
  double worst_ulp = 0;    // error of the element with the largest error in float32 ulp of want
  size_t tensors = 0;      // judged as a whole: one a comparison of two arrays of numbers
  size_t elements = 0;     // judged, `undecided` ones included
  size_t undecided = 0;
  size_t worst_index = 0;  // flat index of the element that decided: of the worst ratio
  std::string detail;      // one line: what, where, expected, got, bound, ratio; empty if it holds

  bool holds() const { return outcome == Outcome::holds; }
};

// Each element of got against want by the rules of Bounded. A NaN or infinity where a number was
// wanted fails; a wrong count fails.
Verdict within(std::string_view what, std::span<const float> got, const Bounded& want);
// One line for one element: decimal, bits, exact value, bound, ratio, index. Paired with within.
std::string explain(std::string_view what, float got, const Bounded& want, size_t index);

// Equal bits, or NaN in both.
bool equal_bits(std::span<const float> got, std::span<const float> want);
Verdict same_bits(std::string_view what, std::span<const float> got, std::span<const float> want);
Verdict same_bytes(std::string_view what, std::span<const uint8_t> got,
                   std::span<const uint8_t> want);

// A claim about one fact that is not a number.
Verdict claim(bool holds, std::string detail);

// The worse of two; counts add up; the detail is that of the worse.
Verdict both(Verdict one, Verdict two);
// The same of what an engine serves: where one of them does not apply, the other.
Verdict both_served(Verdict one, Verdict two);
template <class... More>
Verdict both(Verdict one, Verdict two, More... more) {
  return both(both(std::move(one), std::move(two)), std::move(more)...);
}

}  // namespace gdn
