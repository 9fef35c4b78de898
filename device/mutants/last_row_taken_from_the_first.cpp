// Bug: the last row of a float32 projection that is no multiple of 8 is row 0 again.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void project(const float* w, int64_t rows, int64_t cols, const float* x, float* y) {
  twin::project_f32(w, rows, cols, x, y);
  if (rows % 8 != 0) y[rows - 1] = y[0];
}

const MutantRegistrar self{{.name = "last_row_taken_from_the_first",
                            .bug = "the last row of a float32 projection repeats the first",
                            .op = "in_proj",
                            .api = &twin_with<&twin::TwinOperators::project_f32, project>(
                                "last_row_taken_from_the_first")}};

}  // namespace
}  // namespace gdn::mutants
