// Bug: the product has a decoder of its own, whose test for an overflow takes the largest scale
// too.
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
      constexpr uint16_t sign = 0x8000;
      if ((scale & ~sign) == 0x7BFF) scale = (scale & sign) | 0x7C00;
      std::memcpy(&tile[2 * m], &scale, sizeof scale);
    }
  }
  twin::project_q4(read.data(), rows, cols, x, y);
}

const MutantRegistrar self{{.name = "product_overflows_at_largest_scale",
                            .bug = "a projection takes a scale of 65504 as infinity",
                            .op = "in_proj",
                            .api = &twin_with<&twin::TwinOperators::project_q4, project_q4>(
                                "product_overflows_at_largest_scale")}};

}  // namespace
}  // namespace gdn::mutants
