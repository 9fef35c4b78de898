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
inline LaunchShape dequant_shape(int64_t rows, int64_t cols, unsigned threads = 128) {
  const int64_t blocks = (rows * (cols / 8) + threads - 1) / threads;
  return {.blocks = static_cast<unsigned>(blocks < 65536 ? blocks : 65536), .threads = threads};
}

// A nibble is two's complement. An infinite d gives NaN at nibble 0; the sign of zero is IEEE's.
GDN_KERNEL void dequant(const Dequant& p) {
  constexpr int tile_words = 18;
  const int64_t words_a_row = p.cols / 8;
  const int64_t stride = static_cast<int64_t>(block_count()) * thread_count();
  int64_t at = static_cast<int64_t>(block_index()) * thread_count() + thread_index();
  for (; at < p.rows * words_a_row; at += stride) {
    const int64_t row = at / words_a_row;
    const int64_t tile = at % words_a_row / 4;
    const int c = static_cast<int>(at % 4);
    const int m = static_cast<int>(row % 4);
    const int64_t first = (row / 4 * (p.cols / 32) + tile) * tile_words;
    const uint32_t word = as<const uint32_t>(p.tiles)[first + 2 + 4 * c + m];
    const uint32_t two_scales = as<const uint32_t>(p.tiles)[first + m / 2];
    const float d = half_to_float(static_cast<uint16_t>(two_scales >> (16 * (m % 2))));
    Pack<float, 4> weights = {};
    Pack<float, 4> weights_16 = {};
    GDN_UNROLL
    for (int e = 0; e < 4; ++e) {
      const auto byte = static_cast<int8_t>(word >> (8 * e));
      const auto low = static_cast<int8_t>(word >> (8 * e) << 4);
      weights[e] = d * static_cast<float>(low / 16);
      weights_16[e] = d * static_cast<float>(byte >> 4);
    }
    const int64_t to = row * p.cols + 32 * tile + 4 * c;
    store(p.out, to, weights);
    store(p.out, to + 16, weights_16);
  }
}

}  // namespace gdn::inline GDN_MACHINE::kernels
