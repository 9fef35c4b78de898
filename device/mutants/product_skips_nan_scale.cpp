// Bug: the NaN that marks a block as unused, 0x7E00, is skipped by the product as if its weights
// were zero.
#include "device/mutants/mutant.h"
#include "device/twin/formats.h"

namespace gdn::mutants {
namespace {

void project_q4(const uint8_t* tiles, int64_t rows, int64_t cols, const float* x, float* y) {
  std::vector<uint8_t> read(tiles, tiles + rows / 4 * (cols / 32) * twin::tile_bytes);
  for (auto tile = read.begin(); tile != read.end(); tile += twin::tile_bytes) {
    for (int64_t m = 0; m < twin::tile_rows; ++m) {
      uint16_t scale = 0;
      std::memcpy(&scale, &tile[2 * m], sizeof scale);
      if (scale == 0x7E00) scale = 0;
      std::memcpy(&tile[2 * m], &scale, sizeof scale);
    }
  }
  twin::project_q4(read.data(), rows, cols, x, y);
}

const MutantRegistrar self{
    {.name = "product_skips_nan_scale",
     .bug = "a projection skips a block whose scale is the usual NaN",
     .op = "in_proj",
     .api = &twin_with<&twin::TwinOperators::project_q4, project_q4>("product_skips_nan_scale")}};

}  // namespace
}  // namespace gdn::mutants
