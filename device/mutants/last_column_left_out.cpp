// Bug: a float32 row ends one column early.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void project(const float* w, int64_t rows, int64_t cols, const float* x, float* y) {
  std::vector<float> cut(x, x + cols);
  cut.back() = 0;
  twin::project_f32(w, rows, cols, cut.data(), y);
}

const MutantRegistrar self{
    {.name = "last_column_left_out",
     .bug = "the last column of a float32 projection is left out",
     .op = "in_proj",
     .api = &twin_with<&twin::TwinOperators::project_f32, project>("last_column_left_out")}};

}  // namespace
}  // namespace gdn::mutants
