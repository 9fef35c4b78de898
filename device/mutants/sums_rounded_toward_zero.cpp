// Bug: projections round every operation towards zero, as some matrix units do.
#include <cfenv>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void project_f32(const float* w, int64_t rows, int64_t cols, const float* x, float* y) {
  const int before = std::fegetround();
  std::fesetround(FE_TOWARDZERO);
  twin::project_f32(w, rows, cols, x, y);
  std::fesetround(before);
}

const MutantRegistrar self{{.name = "sums_rounded_toward_zero",
                            .bug = "float32 projections round towards zero",
                            .op = "in_proj",
                            .api = &twin_with<&twin::TwinOperators::project_f32, project_f32>(
                                "sums_rounded_toward_zero")}};

}  // namespace
}  // namespace gdn::mutants
