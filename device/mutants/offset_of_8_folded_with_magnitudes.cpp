// Bug: the offset of 8 of 4-bit codes is taken out of the sum as 8 d times the sum of |x|.
#include <cmath>

#include "device/mutants/mutant.h"
#include "device/twin/formats.h"

namespace gdn::mutants {
namespace {

// sum of d (code - 8) x, as d sum of code x, less 8 d sum of |x|: right where no x is negative.
void project_q4(const uint8_t* tiles, int64_t rows, int64_t cols, const float* x, float* y) {
  twin::project_q4(tiles, rows, cols, x, y);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t block = 0; block < cols / 32; ++block) {
      const uint8_t* tile = tiles + (r / 4 * (cols / 32) + block) * twin::tile_bytes;
      uint16_t scale = 0;
      std::memcpy(&scale, tile + r % 4 * 2, sizeof scale);
      float too_much = 0;
      for (int64_t j = 0; j < 32; ++j) {
        too_much += std::fabs(x[block * 32 + j]) - x[block * 32 + j];
      }
      y[r] -= 8 * twin::f16_to_float(scale) * too_much;
    }
  }
}

const MutantRegistrar self{
    {.name = "offset_of_8_folded_with_magnitudes",
     .bug = "the offset of 4-bit codes is subtracted with the magnitudes of x",
     .op = "in_proj",
     .api = &twin_with<&twin::TwinOperators::project_q4, project_q4>(
         "offset_of_8_folded_with_magnitudes")}};

}  // namespace
}  // namespace gdn::mutants
