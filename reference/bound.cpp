// Inputs that were read back from an engine, as numbers with bounds: exact, so the bound is empty.
#include "reference/bound.h"

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

}  // namespace gdn
