// Bug: the sum over a row takes eight blocks at a time, then four while more than four are left,
// then single ones if fewer than four are: exactly four are left out.
#include <algorithm>
#include <vector>

#include "device/mutants/mutant.h"
#include "device/twin/formats.h"

namespace gdn::mutants {
namespace {

void project_q4(const uint8_t* tiles, int64_t rows, int64_t cols, const float* x, float* y) {
  const int64_t blocks = cols / twin::tile_cols;
  std::vector<float> summed(x, x + cols);
  if (blocks % 8 == 4) std::fill(summed.end() - 4 * twin::tile_cols, summed.end(), 0.0F);
  twin::project_q4(tiles, rows, cols, summed.data(), y);
}

const MutantRegistrar self{
    {.name = "four_left_blocks_dropped",
     .bug = "the last four blocks of a row are left out where a multiple of eight comes before",
     .op = "in_proj",
     .api = &twin_with<&twin::TwinOperators::project_q4, project_q4>("four_left_blocks_dropped")}};

}  // namespace
}  // namespace gdn::mutants
