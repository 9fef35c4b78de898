// in_proj, out_proj: y[r] = sum over c of w[r][c] x[c], each row one serial float32 sum from zero,
// every product rounded before it is added.
#include "device/twin/formats.h"
#include "device/twin/operators.h"

#ifdef __FAST_MATH__
#error "the twin's numbers are IEEE: build without fast math"
#endif

namespace gdn::twin {
namespace {

// Rows are independent sums: several at a time hide the latency of the additions and change no
// bit of any.
template <int rows>
void sum_rows(const float* w, int64_t cols, const float* x, float* y) {
  float sum[rows] = {};
  for (int64_t c = 0; c < cols; ++c) {
    for (int r = 0; r < rows; ++r) sum[r] += w[r * cols + c] * x[c];
  }
  for (int r = 0; r < rows; ++r) y[r] = sum[r];
}

}  // namespace

void project_f32(const float* w, int64_t rows, int64_t cols, const float* x, float* y) {
  int64_t r = 0;
  for (; r + 8 <= rows; r += 8) sum_rows<8>(w + r * cols, cols, x, y + r);
  for (; r < rows; ++r) sum_rows<1>(w + r * cols, cols, x, y + r);
}

void project_q4(const uint8_t* tiles, int64_t rows, int64_t cols, const float* x, float* y) {
  for (int64_t r = 0; r < rows; r += tile_rows) {
    float sum[tile_rows] = {};
    for (int64_t c = 0; c < cols; c += tile_cols) {
      float w[tile_rows * tile_cols];
      decode_tile(tiles, w);
      tiles += tile_bytes;
      for (int64_t j = 0; j < tile_cols; ++j) {
        for (int64_t m = 0; m < tile_rows; ++m) sum[m] += w[m * tile_cols + j] * x[c + j];
      }
    }
    for (int64_t m = 0; m < tile_rows; ++m) y[r + m] = sum[m];
  }
}

}  // namespace gdn::twin
