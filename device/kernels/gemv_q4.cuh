// y = W x with W in 4-bit tiles of 4 rows and 32 columns. Two warps a row of tiles: a warp takes
// four neighbouring tiles of every eight, a lane two rows and eight columns of one of them. A block
// takes several rows of tiles, one after the other, so that a grid fits on a GPU at once.
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

// Threads: any multiple of 64; blocks: any. The bits depend on neither.
inline LaunchShape gemv_q4_shape(int64_t rows, [[maybe_unused]] int64_t cols,
                                 unsigned threads = 128) {
  // An H200 holds so many blocks at once: 132 multiprocessors, 64 registers a thread.
  const int64_t blocks_at_once = 132 * (1024 / threads);
  const int64_t groups_a_block = threads / gemv_threads_a_row;
  const int64_t blocks = (rows / 4 + groups_a_block - 1) / groups_a_block;
  const int64_t passes = (blocks + blocks_at_once - 1) / blocks_at_once;
  return {.blocks = static_cast<unsigned>((blocks + passes - 1) / passes), .threads = threads};
}

inline constexpr int q4_tile_words = 18;  // of 32 bits: 2 of scales, 16 of nibbles
inline constexpr int q4_tiles_a_step = gemv_columns_a_step / 32;
inline constexpr int q4_words_a_step = q4_tiles_a_step * q4_tile_words;

// A word holds eight weights of a row, d times a nibble each, exactly: nibble 2e is that of column
// e, nibble 2e + 1 that of column e + 16. A nibble with its sign bit flipped is its code, nibble +
// 8; in the significand of a power of two it makes power + code without a conversion, and
// d (power + code) - d (power + 8) is exact: power + 8 has at most 13 bits, d 11, and what is left
// 15. A d that is not finite gives NaN.
struct Q4Scale {
  float d;
  float less_32776, less_2056, less_136;  // -d (2^15 + 8), -d (2^11 + 8), -d (2^7 + 8)
};

GDN_DEVICE Q4Scale q4_scale(uint32_t half) {
  const float d = widen_half(static_cast<uint16_t>(half));
  return {d, d * -32776.0F, d * -2056.0F, d * -136.0F};
}

GDN_DEVICE float q4_at_bit_8(uint32_t word, const Q4Scale& scale) {
  const float power_and_code = bits_float(and_xor(word, 0x00000f00U, 0x47000800U));
  return fused_multiply_add(power_and_code, scale.d, scale.less_32776);
}
GDN_DEVICE float q4_at_bit_12(uint32_t word, const Q4Scale& scale) {
  const float power_and_code = bits_float(and_xor(word, 0x0000f000U, 0x45008000U));
  return fused_multiply_add(power_and_code, scale.d, scale.less_2056);
}
GDN_DEVICE float q4_at_bit_16(uint32_t word, const Q4Scale& scale) {
  const float power_and_code = bits_float(and_xor(word, 0x000f0000U, 0x43080000U));
  return fused_multiply_add(power_and_code, scale.d, scale.less_136);
}

// Of one row: the sums of columns 4 c to 4 c + 3 of the lane's tiles, and those 16 further on.
struct Q4RowSums {
  float near[4] = {};
  float far[4] = {};
};

GDN_DEVICE void q4_add_word(Q4RowSums& sums, uint32_t word, uint32_t half,
                            const Pack<float, 4>& x_near, const Pack<float, 4>& x_far) {
  const Q4Scale scale = q4_scale(half);
  const uint32_t up = word << 8;
  const uint32_t down = word >> 12;
  sums.near[0] = fused_multiply_add(q4_at_bit_8(up, scale), x_near[0], sums.near[0]);
  sums.far[0] = fused_multiply_add(q4_at_bit_12(up, scale), x_far[0], sums.far[0]);
  sums.near[1] = fused_multiply_add(q4_at_bit_8(word, scale), x_near[1], sums.near[1]);
  sums.far[1] = fused_multiply_add(q4_at_bit_12(word, scale), x_far[1], sums.far[1]);
  sums.near[2] = fused_multiply_add(q4_at_bit_16(word, scale), x_near[2], sums.near[2]);
  sums.far[2] = fused_multiply_add(q4_at_bit_8(down, scale), x_far[2], sums.far[2]);
  sums.near[3] = fused_multiply_add(q4_at_bit_12(down, scale), x_near[3], sums.near[3]);
  sums.far[3] = fused_multiply_add(q4_at_bit_16(down, scale), x_far[3], sums.far[3]);
}

// Where a lane reads: nibbles of its two rows, their scales, and x.
struct Q4Lane {
  global<const uint32_t> nibbles;
  global<const uint32_t> scales;
  global<const float> x;
};

GDN_DEVICE void q4_move(Q4Lane& at, int64_t words, int columns) {
  at.nibbles = at.nibbles + words;
  at.scales = at.scales + words;
  at.x = at.x + columns;
}

// What a lane has read ahead of its use: some steps, of one tile each.
inline constexpr int q4_steps_ahead = 2;
struct Q4Steps {
  Pack<uint32_t, 2> words[q4_steps_ahead];
  uint32_t scales[q4_steps_ahead];
};

// From step `first` on, those that there are.
GDN_DEVICE void q4_read(Q4Steps& held, const Q4Lane& at, int first, int steps) {
  GDN_UNROLL
  for (int s = 0; s < q4_steps_ahead; ++s) {
    if (first + s >= steps) continue;
    held.words[s] = load_streaming<2>(at.nibbles, (first + s) * q4_words_a_step);
    held.scales[s] = load_streaming<1>(at.scales, (first + s) * q4_words_a_step)[0];
  }
}

GDN_DEVICE void q4_add_step(Q4RowSums (&rows)[2], const Q4Steps& held, const global<const float>& x,
                            int s) {
  const Pack<float, 4> x_near = load_read_only<4>(x, s * gemv_columns_a_step);
  const Pack<float, 4> x_far = load_read_only<4>(x, s * gemv_columns_a_step + 16);
  q4_add_word(rows[0], held.words[s][0], held.scales[s] & 0xffffU, x_near, x_far);
  q4_add_word(rows[1], held.words[s][1], held.scales[s] >> 16, x_near, x_far);
}

// Adds one row of tiles, `steps` of them in the lane. `held` holds the first steps, and in the end
// those of the row of tiles that follows, `to_next` words further on: reading never waits for
// adding.
GDN_DEVICE void q4_add_tiles(Q4RowSums (&rows)[2], Q4Steps& held, Q4Lane& at, int steps,
                             int64_t to_next, int next_steps) {
  Q4Steps ahead = {};
  int left = steps;
  for (; left > q4_steps_ahead; left -= q4_steps_ahead) {
    q4_read(ahead, at, q4_steps_ahead, left);
    GDN_UNROLL
    for (int s = 0; s < q4_steps_ahead; ++s) q4_add_step(rows, held, at.x, s);
    held = ahead;
    q4_move(at, q4_steps_ahead * q4_words_a_step, q4_steps_ahead * gemv_columns_a_step);
  }
  const int moved = steps - left;
  const global<const float> x = at.x;
  q4_move(at, to_next - moved * q4_words_a_step, -moved * gemv_columns_a_step);
  q4_read(ahead, at, 0, next_steps);
  GDN_UNROLL
  for (int s = 0; s < q4_steps_ahead; ++s) {
    if (s < left) q4_add_step(rows, held, x, s);
  }
  held = ahead;
}

// Over the warp's columns, the sum of the row 2 pair + second of the four, where the lane is
// 8 tile + 4 (c / 2) + 2 second + pair. Result 8 tile + 4 far + c of a warp is a block of four
// accumulators: so neighbours are lanes that differ in c, then near and far, then tiles.
GDN_DEVICE float q4_warp_sum(const Q4RowSums (&rows)[2], bool second) {
  float sums[2];
  GDN_UNROLL
  for (int far = 0; far < 2; ++far) {
    const auto& a = far == 0 ? rows[0].near : rows[0].far;
    const auto& b = far == 0 ? rows[1].near : rows[1].far;
    const float of_first = block_of_4_sum(a[0], a[1], a[2], a[3]);
    const float of_second = block_of_4_sum(b[0], b[1], b[2], b[3]);
    // Each of two lanes gives the other the row that it does not go on with.
    const float taken = shuffle_xor(full_mask, second ? of_first : of_second, 2);
    sums[far] = (second ? of_second : of_first) + taken;
    sums[far] += shuffle_xor(full_mask, sums[far], 4);
  }
  float sum = sums[0] + sums[1];
  sum += shuffle_xor(full_mask, sum, 8);
  return sum + shuffle_xor(full_mask, sum, 16);
}

// Order: stride 256 fused, block 4, tree_adjacent, of weights d nibble that are exact: the bits of
// gemv_f32 on decoded weights.
GDN_KERNEL void gemv_q4(const GemvQ4& p) {
  constexpr int rows_of_warps = 4 * 32;
  GDN_SHARED(float, of_warp, 2 * rows_of_warps);
  const unsigned lane_index = static_cast<unsigned>(lane());
  const int pair = static_cast<int>(lane_index % 2);
  const int c = static_cast<int>(lane_index / 2 % 4);
  const bool second = c % 2 == 1;
  const int row_of_group = 2 * pair + (second ? 1 : 0);
  const int group_of_block = warp_index() / gemv_warps_a_row;
  const int tile = 4 * (warp_index() % gemv_warps_a_row) + static_cast<int>(lane_index / 8);
  const int tiles = static_cast<int>(p.cols / 32);
  const int steps = (tiles - tile + q4_tiles_a_step - 1) / q4_tiles_a_step;
  const int groups = static_cast<int>(p.rows / 4);
  const int groups_a_block = thread_count() / gemv_threads_a_row;
  const int stride = block_count() * groups_a_block;
  int group = block_index() * groups_a_block + group_of_block;

  const global<const uint32_t> words =
      as<const uint32_t>(p.tiles) + (static_cast<int64_t>(group) * tiles + tile) * q4_tile_words;
  Q4Lane at = {words + (2 + 4 * c + 2 * pair), words + pair, p.x + (32 * tile + 4 * c)};
  Q4Steps held = {};
  q4_read(held, at, 0, group < groups ? steps : 0);
  // The sums of one pass are read while those of the next are written, to the other half.
  for (int half = 0; group - group_of_block < groups; group += stride, half ^= rows_of_warps) {
    Q4RowSums rows[2];
    q4_add_tiles(rows, held, at, group < groups ? steps : 0,
                 static_cast<int64_t>(stride) * tiles * q4_tile_words,
                 group + stride < groups ? steps : 0);
    const float sum = q4_warp_sum(rows, second);
    if (lane_index < 4) of_warp[half + 4 * warp_index() + row_of_group] = sum;
    barrier();
    const int row = thread_index() % gemv_threads_a_row;
    if (row >= 4 || group >= groups) continue;
    const shared<float> s = of_warp + (half + 4 * gemv_warps_a_row * group_of_block + row);
    const float low = s[0];
    const float high = s[4];
    p.y[4 * static_cast<int64_t>(group) + row] = low + high;
  }
}

}  // namespace gdn::inline GDN_MACHINE::kernels
