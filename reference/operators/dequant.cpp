// Weights of a q4_tile matrix, weight = d (code - 8) by IEEE: exact, since 11 bits of d times 4 of
// the code fit into float32, subnormals included. A block whose d is infinite gives infinities and,
// at code 8, NaN; one whose d is NaN gives NaN. -0 is kept.
#include <algorithm>

#include "reference/formats.h"
#include "reference/operators.h"

namespace gdn {

void Matrix::decode_row(int64_t row, float* weights) const {
  if (tiles != nullptr) {
    q4_tile_decode_row(tiles, cols, row, weights);
  } else {
    std::copy_n(f32 + row * cols, cols, weights);
  }
}

Bounded dequant(const uint8_t* tiles, int64_t rows, int64_t cols) {
  std::vector<float> weights(static_cast<size_t>(rows * cols));
  const Matrix matrix{.rows = rows, .cols = cols, .f32 = nullptr, .tiles = tiles};
  for (int64_t row = 0; row < rows; ++row) matrix.decode_row(row, weights.data() + row * cols);
  return exactly(weights);
}

}  // namespace gdn
