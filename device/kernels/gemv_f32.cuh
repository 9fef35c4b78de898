// y = W x with W in float32. Four warps a row: a lane takes four columns of every 512, so that a
// warp reads 512 neighbouring bytes at once. A block takes as many rows as it has four warps.
#pragma once

#include <cstdint>

#include "device/kernels/platform.h"

namespace gdn::inline GDN_MACHINE::kernels {

// W and x aligned to 16 bytes; any rows and cols from 1 on.
struct GemvF32 {
  global<const float> w;  // [rows][cols]
  global<const float> x;  // [cols]
  global<float> y;        // [rows]
  int64_t rows;
  int64_t cols;
};

// Threads: any multiple of 128, the bits do not depend on it.
inline LaunchShape gemv_f32_shape(int64_t rows, [[maybe_unused]] int64_t cols) {
  return {.blocks = static_cast<unsigned>(rows), .threads = 128};
}

// Order: stride 512 fused, block 4, tree_adjacent.
GDN_KERNEL void gemv_f32(const GemvF32& p);

}  // namespace gdn::inline GDN_MACHINE::kernels
