// y = W x with W in 4-bit tiles of 4 rows and 32 columns. Four warps a row of tiles: a warp takes
// four neighbouring tiles of every sixteen, a lane two rows and eight columns of one of them.
#pragma once

#include <cstdint>

#include "device/kernels/platform.h"
#include "device/kernels/tree_sum.cuh"

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
inline LaunchShape gemv_q4_shape(int64_t rows, [[maybe_unused]] int64_t cols,
                                 unsigned threads = 128) {
  const int64_t groups_a_block = threads / 128;
  return {.blocks = static_cast<unsigned>((rows / 4 + groups_a_block - 1) / groups_a_block),
          .threads = threads};
}

inline constexpr int q4_tile_words = 18;        // of 32 bits: 2 of scales, 16 of nibbles
inline constexpr int q4_threads_a_group = 128;  // of the threads that share a row of tiles
inline constexpr int q4_tiles_a_step = 16;
inline constexpr int q4_columns_a_step = 32 * q4_tiles_a_step;

// The eight weights of a word, d times its nibbles, exactly: nibble 2e is that of column e, nibble
// 2e + 1 that of column e + 16. A nibble, its sign bit flipped, is its code, nibble + 8; put into
// the significand of a power of two it makes power + code without a conversion, and
// d (power + code) - d (power + 8) is exact: power + 8 has at most 13 bits, d 11, and what is left
// 15. A d that is not finite leaves NaN.
struct Q4Scale {
  float d;
  float less_32776, less_2056, less_136;  // -d (2^15 + 8), -d (2^11 + 8), -d (2^7 + 8)
};

GDN_DEVICE Q4Scale q4_scale(uint32_t half) {
  const float d = widen_half(static_cast<uint16_t>(half));
  return {d, d * -32776.0F, d * -2056.0F, d * -136.0F};
}

GDN_DEVICE float q4_at_bit_8(uint32_t word, const Q4Scale& scale) {
  const float power_and_code = bits_float((word & 0x00000f00U) ^ 0x47000800U);
  return fused_multiply_add(power_and_code, scale.d, scale.less_32776);
}
GDN_DEVICE float q4_at_bit_12(uint32_t word, const Q4Scale& scale) {
  const float power_and_code = bits_float((word & 0x0000f000U) ^ 0x45008000U);
  return fused_multiply_add(power_and_code, scale.d, scale.less_2056);
}
GDN_DEVICE float q4_at_bit_16(uint32_t word, const Q4Scale& scale) {
  const float power_and_code = bits_float((word & 0x000f0000U) ^ 0x43080000U);
  return fused_multiply_add(power_and_code, scale.d, scale.less_136);
}

// Adds a word's eight products, to the four sums of columns e and to those of columns e + 16.
GDN_DEVICE void q4_add_products(uint32_t word, const Q4Scale& scale, const Pack<float, 4>& x,
                                const Pack<float, 4>& x_16, float (&sum)[4], float (&sum_16)[4]) {
  const uint32_t up = word << 8;
  const uint32_t down = word >> 12;
  sum[0] = fused_multiply_add(q4_at_bit_8(up, scale), x[0], sum[0]);
  sum_16[0] = fused_multiply_add(q4_at_bit_12(up, scale), x_16[0], sum_16[0]);
  sum[1] = fused_multiply_add(q4_at_bit_8(word, scale), x[1], sum[1]);
  sum_16[1] = fused_multiply_add(q4_at_bit_12(word, scale), x_16[1], sum_16[1]);
  sum[2] = fused_multiply_add(q4_at_bit_16(word, scale), x[2], sum[2]);
  sum_16[2] = fused_multiply_add(q4_at_bit_8(down, scale), x_16[2], sum_16[2]);
  sum[3] = fused_multiply_add(q4_at_bit_12(down, scale), x[3], sum[3]);
  sum_16[3] = fused_multiply_add(q4_at_bit_16(down, scale), x_16[3], sum_16[3]);
}

// The sums of two rows over what the calling lane takes: of each tile the columns 4 c to 4 c + 3
// and those 16 further on.
struct Q4LaneSums {
  float row[2][4] = {};
  float row_16[2][4] = {};
};

// `tile` is the lane's first, then every sixteenth. Several loads are under way before the first
// is used.
GDN_DEVICE void q4_add_tiles(Q4LaneSums& sums, global<const uint32_t> nibbles,
                             global<const uint32_t> scales, global<const float> x, int64_t tile,
                             int64_t tiles) {
  constexpr int steps_at_once = 4;
  constexpr int words_a_step = q4_tiles_a_step * q4_tile_words;
  for (; tile < tiles; tile += steps_at_once * q4_tiles_a_step) {
    Pack<uint32_t, 2> words[steps_at_once] = {};
    uint32_t halves[steps_at_once] = {};
    GDN_UNROLL
    for (int s = 0; s < steps_at_once; ++s) {
      if (tile + s * q4_tiles_a_step >= tiles) break;
      words[s] = load_streaming<2>(nibbles, s * words_a_step);
      halves[s] = load_streaming<1>(scales, s * words_a_step)[0];
    }
    GDN_UNROLL
    for (int s = 0; s < steps_at_once; ++s) {
      if (tile + s * q4_tiles_a_step >= tiles) break;
      const Pack<float, 4> x_0 = load_read_only<4>(x, s * q4_columns_a_step);
      const Pack<float, 4> x_16 = load_read_only<4>(x, s * q4_columns_a_step + 16);
      const Q4Scale first = q4_scale(halves[s] & 0xffffU);
      q4_add_products(words[s][0], first, x_0, x_16, sums.row[0], sums.row_16[0]);
      const Q4Scale second = q4_scale(halves[s] >> 16);
      q4_add_products(words[s][1], second, x_0, x_16, sums.row[1], sums.row_16[1]);
    }
    nibbles = nibbles + steps_at_once * words_a_step;
    scales = scales + steps_at_once * words_a_step;
    x = x + steps_at_once * q4_columns_a_step;
  }
}

// Order: stride 512 fused, block 4, tree_adjacent, as in gemv_f32: column i of 512 is accumulator
// i % 4 of result i / 4 = 32 warp + 8 tile + 4 h + c, where h says whether i % 32 is 16 or more.
// A lane is 8 tile + 2 c + pair of rows, and has both h.
GDN_KERNEL void gemv_q4(const GemvQ4& p) {
  GDN_SHARED(float, of_warp, 4 * 32);
  const int group_of_block = thread_index() / q4_threads_a_group;
  const int warp_of_group = thread_index() % q4_threads_a_group / warp_size;
  const int groups_a_block = thread_count() / q4_threads_a_group;
  const int64_t group = static_cast<int64_t>(block_index()) * groups_a_block + group_of_block;
  const int pair = lane() % 2;
  const int c = lane() / 2 % 4;
  const int tile = 4 * warp_of_group + lane() / 8;
  const int64_t tiles = p.cols / 32;
  Q4LaneSums sums;
  if (4 * group < p.rows) {
    const global<const uint32_t> words =
        as<const uint32_t>(p.tiles) + (group * tiles + tile) * q4_tile_words;
    q4_add_tiles(sums, words + (2 + 4 * c + 2 * pair), words + pair, p.x + (32 * tile + 4 * c),
                 tile, tiles);
  }
  GDN_UNROLL
  for (int r = 0; r < 2; ++r) {
    const auto& low = sums.row[r];
    const auto& high = sums.row_16[r];
    float sum = block_of_4_sum(low[0], low[1], low[2], low[3]);
    float sum_16 = block_of_4_sum(high[0], high[1], high[2], high[3]);
    for (int distance = 2; distance <= 4; distance *= 2) {  // c
      sum += shuffle_xor(full_mask, sum, distance);
      sum_16 += shuffle_xor(full_mask, sum_16, distance);
    }
    sum += sum_16;
    sum += shuffle_xor(full_mask, sum, 8);  // tile
    sum += shuffle_xor(full_mask, sum, 16);
    if (lane() < 2) of_warp[4 * warp_index() + 2 * pair + r] = sum;
  }
  barrier();
  const int row_of_group = thread_index() % q4_threads_a_group;
  if (row_of_group >= 4 || 4 * group >= p.rows) return;
  const shared<float> s = of_warp + (16 * group_of_block + row_of_group);
  const float first = s[0] + s[4];
  const float last = s[8] + s[12];
  p.y[4 * group + row_of_group] = first + last;
}

}  // namespace gdn::inline GDN_MACHINE::kernels
