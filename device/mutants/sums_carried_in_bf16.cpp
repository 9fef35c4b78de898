// Bug: the running sum of a float32 projection is held in bf16.
#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

void project(const float* w, int64_t rows, int64_t cols, const float* x, float* y) {
  for (int64_t r = 0; r < rows; ++r) {
    float sum = 0;
    for (int64_t c = 0; c < cols; ++c) sum = as_bf16(sum + w[r * cols + c] * x[c]);
    y[r] = sum;
  }
}

const MutantRegistrar self{
    {.name = "sums_carried_in_bf16",
     .bug = "a float32 projection accumulates in bf16",
     .op = "in_proj",
     .api = &twin_with<&twin::TwinOperators::project_f32, project>("sums_carried_in_bf16")}};

}  // namespace
}  // namespace gdn::mutants
