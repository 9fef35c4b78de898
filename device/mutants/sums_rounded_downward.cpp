// Bug: projections round every operation towards minus infinity.
#include <cfenv>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void project_f32(const float* w, int64_t rows, int64_t cols, const float* x, float* y) {
  const int before = std::fegetround();
  std::fesetround(FE_DOWNWARD);
  twin::project_f32(w, rows, cols, x, y);
  std::fesetround(before);
}

const MutantRegistrar self{
    {.name = "sums_rounded_downward",
     .bug = "float32 projections round towards minus infinity",
     .op = "in_proj",
     .api = &twin_with<&twin::TwinOperators::project_f32, project_f32>("sums_rounded_downward")}};

}  // namespace
}  // namespace gdn::mutants
