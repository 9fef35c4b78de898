// Bug: a subnormal scale is read as 0.
#include "device/mutants/mutant.h"
#include "device/twin/formats.h"

namespace gdn::mutants {
namespace {

void dequant(const uint8_t* tiles, int64_t rows, int64_t cols, float* out) {
  std::vector<uint8_t> flushed(tiles, tiles + rows / 4 * (cols / 32) * twin::tile_bytes);
  for (auto tile = flushed.begin(); tile != flushed.end(); tile += twin::tile_bytes) {
    for (int64_t m = 0; m < twin::tile_rows; ++m) {
      if ((tile[2 * m + 1] & 0x7C) != 0) continue;
      tile[2 * m] = 0;
      tile[2 * m + 1] &= 0x80;
    }
  }
  twin::dequant(flushed.data(), rows, cols, out);
}

const MutantRegistrar self{{.name = "f16_subnormal_flushed",
                            .bug = "subnormal scales of 4-bit blocks are flushed to 0",
                            .op = "dequant",
                            .api = &twin_decoding_with<dequant>("f16_subnormal_flushed")}};

}  // namespace
}  // namespace gdn::mutants
