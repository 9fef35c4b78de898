// Every weight of a tile matrix, d times its nibble by IEEE, row-major. A thread takes eight
// weights of a row: the four columns of a group of bytes, and the four that stand 16 further on.
#pragma once

#include <cstdint>

#include "device/kernels/platform.h"

namespace gdn::inline GDN_MACHINE::kernels {

// Tiles aligned to 4 bytes, out to 16. rows a multiple of 4, cols of 32.
struct Dequant {
  global<const uint8_t> tiles;  // [rows / 4][cols / 32][72]
  global<float> out;            // [rows][cols]
  int64_t rows;
  int64_t cols;
};

// Threads: any; blocks: any.
inline LaunchShape dequant_shape(int64_t rows, int64_t cols) {
  const int64_t threads = rows * (cols / 8);
  const int64_t blocks = (threads + 127) / 128;
  return {.blocks = static_cast<unsigned>(blocks < 65536 ? blocks : 65536), .threads = 128};
}

GDN_KERNEL void dequant(const Dequant& p);

}  // namespace gdn::inline GDN_MACHINE::kernels
