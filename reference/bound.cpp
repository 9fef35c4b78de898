// Inputs that were read back from an engine, as numbers with bounds: exact, so the bound is empty.
#include "reference/bound.h"

#include <algorithm>
#include <cmath>

namespace gdn {

Bounded exactly(const float* numbers, size_t count) {
  Bounded result;
  result.value.assign(numbers, numbers + count);
  return result;
}

Bounded slice(const Bounded& all, size_t begin, size_t count) {
  const auto part = [&](const std::vector<double>& from) {
    const auto first = from.begin() + static_cast<std::ptrdiff_t>(begin);
    return std::vector<double>(first, first + static_cast<std::ptrdiff_t>(count));
  };
  Bounded result;
  result.stored = all.stored;
  result.value = part(all.value);
  if (!all.bound.empty()) result.bound = part(all.bound);
  for (Tolerated tolerated : all.tolerated) {
    if (tolerated.index < begin || tolerated.index >= begin + count) continue;
    tolerated.index -= begin;
    result.tolerated.push_back(tolerated);
  }
  return result;
}

Bounded carried(Bounded result) {
  if (result.tolerated.empty()) return result;
  result.bound.resize(result.size(), 0.0);
  for (const Tolerated& tolerated : result.tolerated) {
    double& value = result.value[tolerated.index];
    double& bound = result.bound[tolerated.index];
    if (std::isfinite(value) && std::isfinite(tolerated.result)) {
      bound = std::max(bound, std::abs(value - tolerated.result) * bound_slack);
      continue;
    }
    if (!std::isfinite(value)) value = 0;
    bound = infinity;
  }
  result.tolerated.clear();
  return result;
}

}  // namespace gdn
