// Bug: each product of a float32 projection passes through f16.
#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

void project(const float* w, int64_t rows, int64_t cols, const float* x, float* y) {
  for (int64_t r = 0; r < rows; ++r) {
    float sum = 0;
    for (int64_t c = 0; c < cols; ++c) sum += as_f16(w[r * cols + c] * x[c]);
    y[r] = sum;
  }
}

const MutantRegistrar self{
    {.name = "products_rounded_to_f16",
     .bug = "products of a float32 projection are rounded to f16",
     .op = "in_proj",
     .api = &twin_with<&twin::TwinOperators::project_f32, project>("products_rounded_to_f16")}};

}  // namespace
}  // namespace gdn::mutants
