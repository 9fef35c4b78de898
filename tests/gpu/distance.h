// How far numbers lie from exact ones, over a whole tensor.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

namespace gdn::gpu {

struct Distance {
  double largest = 0;  // max |error| / max |value|
  double rms = 0;      // root of mean squares of the errors, over that of the values
};

template <class Got, class Want>
Distance distance(const Got& got, const Want& want) {
  double error_max = 0;
  double value_max = 0;
  double errors = 0;
  double values = 0;
  const size_t count = std::min(got.size(), want.size());
  for (size_t i = 0; i < count; ++i) {
    const double value = want[i];
    const double error = static_cast<double>(got[i]) - value;
    // A NaN must not vanish in a maximum.
    if (!(std::abs(error) <= error_max)) error_max = std::abs(error);
    value_max = std::max(value_max, std::abs(value));
    errors += error * error;
    values += value * value;
  }
  if (got.size() != want.size()) return {INFINITY, INFINITY};
  if (error_max == 0) return {};
  return {error_max / value_max, std::sqrt(errors / values)};
}

}  // namespace gdn::gpu
