// How error/bound is distributed: counts of whole powers of two, so that a run that is read back
// years later can be compared with another one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

namespace gdn {

struct RatioCounts {
  // Outside of these the ratio says no more than they do: nothing is known of errors that small.
  static constexpr int exponent_min = -64, exponent_max = 64;

  size_t zero = 0;
  std::map<int, size_t> powers_of_two;  // of n: ratios in [2^n, 2^(n+1))
  size_t infinite = 0;

  // A sample: the worst ratio of one token or one case, never an element's.
  void add(double ratio) {
    if (ratio == 0) {
      ++zero;
    } else if (std::isfinite(ratio)) {
      ++powers_of_two[std::clamp(std::ilogb(ratio), exponent_min, exponent_max)];
    } else {
      ++infinite;
    }
  }
  size_t samples() const {
    size_t count = zero + infinite;
    for (const auto& [exponent, samples] : powers_of_two) count += samples;
    return count;
  }
};

}  // namespace gdn
