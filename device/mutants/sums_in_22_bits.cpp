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

void project_f32(const float* w, int64_t rows, int64_t cols, const float* x, float* y) {
  for (int64_t r = 0; r < rows; ++r) {
    float sum = 0;
    for (int64_t c = 0; c < cols; ++c) sum = rounded_to_22_bits(sum + w[r * cols + c] * x[c]);
    y[r] = sum;
  }
}

const MutantRegistrar self{
    {.name = "sums_in_22_bits",
     .bug = "float32 projections sum in 22 bits",
     .op = "in_proj",
     .api = &twin_with<&twin::TwinOperators::project_f32, project_f32>("sums_in_22_bits")}};

}  // namespace
}  // namespace gdn::mutants
