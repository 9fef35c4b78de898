// Bug: projections keep their running sums in two bits less than float32 has.
#include <bit>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

// To nearest, ties to even, as the right sum is rounded.
float rounded_to_22_bits(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  if ((bits & 0x7F800000U) == 0x7F800000U) return x;
  return std::bit_cast<float>((bits + 1 + ((bits >> 2) & 1U)) & ~3U);
}

const MutantRegistrar self{{.name = "sums_in_22_bits",
                            .bug = "float32 projections sum in 22 bits",
                            .op = "in_proj",
                            .api = &twin_summing_through<rounded_to_22_bits>("sums_in_22_bits")}};

}  // namespace
}  // namespace gdn::mutants
