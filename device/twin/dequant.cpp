// dequant: every weight of a tile matrix, scale * nibble, row-major; exact but for what IEEE says
// of an infinite or NaN scale.
#include "device/twin/formats.h"
#include "device/twin/operators.h"

#ifdef __FAST_MATH__
#error "the twin's numbers are IEEE: build without fast math"
#endif

namespace gdn::twin {

void dequant(const uint8_t* tiles, int64_t rows, int64_t cols, float* out) {
  for (int64_t r = 0; r < rows; r += tile_rows) {
    for (int64_t c = 0; c < cols; c += tile_cols) {
      float w[tile_rows * tile_cols];
      decode_tile(tiles, w);
      tiles += tile_bytes;
      for (int64_t m = 0; m < tile_rows; ++m) {
        for (int64_t j = 0; j < tile_cols; ++j) {
          out[(r + m) * cols + c + j] = w[m * tile_cols + j];
        }
      }
    }
  }
}

}  // namespace gdn::twin
