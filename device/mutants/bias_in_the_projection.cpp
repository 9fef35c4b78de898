// Bug: float32 projections add a bias that the layer does not have.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void project_f32(const float* w, int64_t rows, int64_t cols, const float* x, float* y) {
  twin::project_f32(w, rows, cols, x, y);
  for (int64_t r = 0; r < rows; ++r) y[r] += 0x1p-10F;
}

const MutantRegistrar self{
    {.name = "bias_in_the_projection",
     .bug = "float32 projections add a bias",
     .op = "in_proj",
     .api = &twin_with<&twin::TwinOperators::project_f32, project_f32>("bias_in_the_projection")}};

}  // namespace
}  // namespace gdn::mutants
