// Bug: blocks are taken two at a time, and an odd last one never.
#include <algorithm>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void project_q4(const uint8_t* tiles, int64_t rows, int64_t cols, const float* x, float* y) {
  std::vector<float> w(static_cast<size_t>(rows * cols));
  twin::dequant(tiles, rows, cols, w.data());
  const bool odd = cols / 32 % 2 == 1 && cols > 32;
  for (int64_t r = 0; odd && r < rows; ++r) {
    std::fill_n(w.begin() + (r + 1) * cols - 32, 32, 0.0F);
  }
  twin::project_f32(w.data(), rows, cols, x, y);
}

const MutantRegistrar self{
    {.name = "last_block_dropped",
     .bug = "the last block of a row is left out where their count is odd",
     .op = "in_proj",
     .api = &twin_with<&twin::TwinOperators::project_q4, project_q4>("last_block_dropped")}};

}  // namespace
}  // namespace gdn::mutants
