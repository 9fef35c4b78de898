// y = W x with W in 4-bit tiles of 4 rows and 32 columns. Four warps a row of tiles: a warp takes
// four neighbouring tiles of every sixteen, a lane two rows and eight columns of one of them.
#pragma once

#include <cstdint>

#include "device/kernels/platform.h"

namespace gdn::inline GDN_MACHINE::kernels {

// Tiles aligned to 8 bytes, x to 16. rows a multiple of 4, cols of 32.
struct GemvQ4 {
  global<const uint8_t> tiles;  // [rows / 4][cols / 32][72]
  global<const float> x;        // [cols]
  global<float> y;              // [rows]
  int64_t rows;
  int64_t cols;
};

// Threads: any multiple of 128, the bits do not depend on it.
inline LaunchShape gemv_q4_shape(int64_t rows, [[maybe_unused]] int64_t cols) {
  return {.blocks = static_cast<unsigned>(rows / 4), .threads = 128};
}

// Order: stride 512 fused, block 4, tree_adjacent, of exact products' factors: w = d nibble.
GDN_KERNEL void gemv_q4(const GemvQ4& p);

}  // namespace gdn::inline GDN_MACHINE::kernels
