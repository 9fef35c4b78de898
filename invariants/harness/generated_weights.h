// Weights given by a rule in place of their numbers, to keep a capture small.
// Element i (0-based, row-major) of tensor number t is ((z >> 40) - 2^23) 2^-23 scale, where z is
// output number i + 1 of splitmix64 seeded with base + (t << 40) mod 2^64.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace gdn {

struct WeightRule {
  uint64_t base = 0;
  double scale = 1;
};

// What is wrong with the rule, or an empty string: only a scale that is a power of two between
// 2^-100 and 2^100 leaves every element exact in float32.
std::string why_not_exact(const WeightRule& rule);

// Fills `out` on all cores; the numbers do not depend on how many there are.
void generate_weights(const WeightRule& rule, uint64_t tensor_number, std::span<float> out);

}  // namespace gdn
