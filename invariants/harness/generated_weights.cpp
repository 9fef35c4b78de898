// splitmix64: Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
#include "invariants/harness/generated_weights.h"

#include <cmath>

#include <fmt/format.h>

#include "reference/parallel_for.h"

namespace gdn {
namespace {

constexpr int64_t grain = 1 << 16;

uint64_t splitmix64(uint64_t seed, uint64_t output_number) {
  uint64_t z = seed + output_number * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

}  // namespace

std::string why_not_exact(const WeightRule& rule) {
  int exponent = 0;
  const bool power = std::isfinite(rule.scale) && std::frexp(rule.scale, &exponent) == 0.5;
  if (power && std::abs(exponent) <= 100) return {};
  return fmt::format("scale {}, expected a power of two from 2^-100 to 2^100", rule.scale);
}

void generate_weights(const WeightRule& rule, uint64_t tensor_number, std::span<float> out) {
  const uint64_t seed = rule.base + (tensor_number << 40);
  const auto unit = static_cast<float>(rule.scale * 0x1p-23);
  parallel_for(static_cast<int64_t>(out.size()), grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const uint64_t z = splitmix64(seed, static_cast<uint64_t>(i) + 1);
      // At most 24 bits with a sign: exact, and so is the product with a power of two.
      const auto number = static_cast<int32_t>(z >> 40) - (1 << 23);
      out[static_cast<size_t>(i)] = static_cast<float>(number) * unit;
    }
  });
}

}  // namespace gdn
