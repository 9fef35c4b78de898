// Bug: a subnormal scale is read with the exponent that its bits say, one below the right one.
#include "device/mutants/mutant.h"
#include "device/twin/formats.h"

namespace gdn::mutants {
namespace {

void dequant(const uint8_t* tiles, int64_t rows, int64_t cols, float* out) {
  twin::dequant(tiles, rows, cols, out);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; c += twin::tile_cols) {
      const uint8_t* tile =
          tiles + (r / twin::tile_rows * cols + c) / twin::tile_cols * twin::tile_bytes;
      const bool is_subnormal = (tile[2 * (r % twin::tile_rows) + 1] & 0x7C) == 0;
      float* block = out + r * cols + c;
      for (int64_t j = 0; is_subnormal && j < twin::tile_cols; ++j) block[j] /= 2;
    }
  }
}

const MutantRegistrar self{
    {.name = "f16_subnormal_halved",
     .bug = "subnormal scales of 4-bit blocks are read as half of themselves",
     .op = "dequant",
     .api = &twin_decoding_with<dequant>("f16_subnormal_halved")}};

}  // namespace
}  // namespace gdn::mutants
