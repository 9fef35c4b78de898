// y = W x with W in 4-bit tiles of 4 rows and 32 columns, by exact products of integers. A block of
// threads takes units of 8 rows, one after the other; each of its warps has a share of the columns,
// in pairs of neighbouring tiles, and holds the activations of its share in registers as digits.
#pragma once

#include <cstdint>

#include "device/kernels/platform.h"
#include "device/kernels/q4_digits.cuh"
#include "device/kernels/tree_sum.cuh"

namespace gdn::inline GDN_MACHINE::kernels {

// Tiles aligned to 8 bytes, x to 16. rows a multiple of 4, cols of 32.
struct GemvQ4 {
  global<const uint8_t> tiles;  // [rows / 4][cols / 32][72]
  global<const float> x;        // [cols]
  global<float> y;              // [rows]
  int64_t rows;
  int64_t cols;
  // Of the first tiles, so many stages are asked for before x, which then waits behind them. One is
  // best behind a launch of this kind, q4_stages_before_x_in_layer where launches alternate.
  int32_t stages_before_x = 1;
};

inline constexpr int q4_tile_words = 18;  // of 32 bits: 2 of scales, 16 of nibbles
inline constexpr int q4_unit_rows = 8;
inline constexpr int q4_warps_max = 16;
inline constexpr int q4_stages = 3;  // units that a warp has asked for and not yet used
inline constexpr int32_t q4_stages_before_x_in_layer = 2;
inline constexpr int q4_units_at_once = 16;       // at most, whose sums wait in shared memory
inline constexpr int q4_block_bytes = 99 * 1024;  // of shared memory, at most

// How the columns are shared out: in chunks, of which each warp takes so many pairs of tiles. The
// order of every sum follows from it alone.
struct Q4Columns {
  int tiles;  // of a row of tiles
  int warps;
  int chunks;
  int most_pairs;  // of a warp in a chunk
  int last_pairs;  // of a warp in the last one
  // In words of a stage: from one row of tiles to the other, 16 banks further; and in all.
  int group_words, stage_words;
  int rows_at_once;  // of the units whose sums wait
};

GDN_HOST_DEVICE inline Q4Columns q4_columns(int64_t cols) {
  constexpr int chunk_pairs = q4_warps_max * q4_pairs_held;
  Q4Columns columns = {};
  columns.tiles = static_cast<int>(cols / 32);
  const int pairs = (columns.tiles + 1) / 2;
  columns.warps = pairs < q4_warps_max ? pairs : q4_warps_max;
  columns.chunks = (pairs + chunk_pairs - 1) / chunk_pairs;
  const int last = pairs - (columns.chunks - 1) * chunk_pairs;
  // Fewer pairs than warps: one each.
  columns.last_pairs = (last + q4_warps_max - 1) / q4_warps_max;
  columns.most_pairs = columns.chunks > 1 ? q4_pairs_held : columns.last_pairs;
  const int words = 2 * q4_tile_words * columns.most_pairs;
  columns.group_words = words + ((16 - words) & 31);
  columns.stage_words = columns.group_words + words;
  constexpr int warp_words = q4_block_bytes / (4 * q4_warps_max);
  const int left = warp_words - q4_stages * columns.stage_words - 2 * q4_digit_words;
  const int units = left / q4_unit_rows;
  columns.rows_at_once = q4_unit_rows * (units < q4_units_at_once ? units : q4_units_at_once);
  return columns;
}

// Shared memory of a warp, in words: tiles on their way, then digits on theirs from lane to lane.
GDN_HOST_DEVICE inline int q4_ring_words(const Q4Columns& columns) {
  return q4_stages * columns.stage_words;
}
GDN_HOST_DEVICE inline int q4_warp_words(const Q4Columns& columns) {
  return q4_ring_words(columns) + 2 * q4_digit_words;
}

inline constexpr int64_t q4_blocks_at_once = 132;  // of an H200: one a multiprocessor
inline bool is_gemv_q4_wide(const void* tiles, int64_t cols) {
  return cols % 64 == 0 && reinterpret_cast<uintptr_t>(tiles) % 16 == 0;
}
inline int64_t q4_units(int64_t rows) { return (rows + q4_unit_rows - 1) / q4_unit_rows; }
inline unsigned q4_shared_bytes(const Q4Columns& columns) {
  return static_cast<unsigned>(columns.warps * (q4_warp_words(columns) + columns.rows_at_once) * 4);
}

// Blocks: any, the bits do not depend on it. Threads: so many or more, as the order does.
inline LaunchShape gemv_q4_shape(int64_t rows, int64_t cols) {
  const Q4Columns columns = q4_columns(cols);
  const int64_t units = q4_units(rows);
  const int64_t units_a_block = (units + q4_blocks_at_once - 1) / q4_blocks_at_once;
  return {.blocks = static_cast<unsigned>((units + units_a_block - 1) / units_a_block),
          .threads = static_cast<unsigned>(columns.warps * warp_size),
          .shared_bytes = q4_shared_bytes(columns)};
}

// A lane's part in its warp's asking: half a warp asks for the tiles of one row of tiles, 16 bytes
// at once or 8.
struct Q4Source {
  global<const uint32_t> from;
  shared<uint32_t> to;  // in the first stage
  int words;            // from here on
};

template <int words>
GDN_DEVICE void q4_ask(const Q4Source& source, int stage_words) {
  constexpr int words_max = 2 * q4_pairs_held * q4_tile_words;
  GDN_UNROLL
  for (int i = 0; i < words_max; i += 16 * words) {
    if (i < source.words) copy_async<words>(source.to + stage_words, i, source.from, i);
  }
}

// A lane's share of a stage of so many pairs. The tiles of a pair are the left operand: lane
// 4 r + c has of row r columns 4 c to 4 c + 3 and those 16 further on, as bytes of 16 times a
// nibble; rows 8 further on are the same rows of the pair's other tile. So of the product rows r
// and columns below 4 belong to the first tile, rows 8 + r and columns from 4 on to the second: a
// lane has two digits of one.
template <int pairs>
GDN_DEVICE float q4_sum_of_pairs(const shared<uint32_t>& stage, const Q4Activations& held,
                                 int group_words, bool all_whole) {
  const int row = lane() / 4;
  const int c = lane() % 4;
  const bool of_first = c < 2;
  const shared<uint32_t> group = stage + (row / 4) * group_words;
  const shared<uint32_t> nibbles = group + (2 + 4 * c + row % 4);
  const shared<uint16_t> scales =
      as<uint16_t>(group) + (2 * q4_tile_words * (of_first ? 0 : 1) + row % 4);
  float sum = 0;
  GDN_UNROLL
  for (int s = 0; s < pairs; ++s) {
    constexpr uint32_t high_nibbles = 0xf0f0f0f0U;
    const uint32_t first = nibbles[2 * q4_tile_words * s];
    const uint32_t second = nibbles[2 * q4_tile_words * s + q4_tile_words];
    uint16_t scale = 0;
    const bool is_there = s + 1 < pairs || of_first || all_whole;
    if (is_there) scale = scales[4 * q4_tile_words * s];
    const Pack<uint32_t, 4> left = {first << 4 & high_nibbles, second << 4 & high_nibbles,
                                    first & high_nibbles, second & high_nibbles};
    const Pack<int32_t, 4> products = matrix_product_s8(left, held.digits[s]);
    const int32_t low = of_first ? products[0] : products[2];
    const int32_t high = of_first ? products[1] : products[3];
    // A multiple of 16 of at most 2^26: exact, and so are both products.
    const auto of_digits = static_cast<float>(low + 256 * high) * held.of_sum[s];
    sum = fused_multiply_add(of_digits, widen_half(scale) * held.of_scale[s], sum);
  }
  return sum;
}

// The warps' sums of a row, as a tree of neighbours.
GDN_DEVICE float q4_row_sum(const shared<float>& of_warps, int row, const Q4Columns& columns) {
  float sums[q4_warps_max];
  GDN_UNROLL
  for (int w = 0; w < q4_warps_max; ++w) {
    sums[w] = 0;
    if (w < columns.warps) sums[w] = of_warps[w * columns.rows_at_once + row];
  }
  return tree_of(sums);
}

// The tiles of the calling warp in a chunk of the columns.
struct Q4Share {
  int first_tile;
  int tiles;  // none where it is not above 0
};

GDN_DEVICE Q4Share q4_share(const Q4Columns& columns, int chunk) {
  const int pairs = chunk + 1 == columns.chunks ? columns.last_pairs : q4_pairs_held;
  const int first = 2 * (chunk * columns.warps * q4_pairs_held + warp_index() * pairs);
  return {first, min(2 * pairs, columns.tiles - first)};
}

// What a block's warp goes through: some units and a chunk of their columns.
struct Q4Pass {
  Q4Columns columns;
  Q4Share share;
  int first_group;  // the first row of tiles of the first unit; a unit has two
  int step;         // to that of the next
  int groups;       // of the matrix
  bool adds;        // to the sums of earlier chunks
  // Of the warp.
  shared<uint32_t> ring;
  shared<uint32_t> between;
  shared<float> sums;  // [rows_at_once]
};

template <int words>
GDN_DEVICE Q4Source q4_source(const GemvQ4& p, const Q4Pass& pass) {
  const int second = lane() / 16;
  const int first = lane() % 16 * words;
  const int64_t tile =
      static_cast<int64_t>(pass.first_group + second) * pass.columns.tiles + pass.share.first_tile;
  return {.from = as<const uint32_t>(p.tiles) + (tile * q4_tile_words + first),
          .to = pass.ring + (second * pass.columns.group_words + first),
          .words = pass.share.tiles * q4_tile_words - first};
}

template <int pairs, bool wide>
GDN_DEVICE void q4_pass(const GemvQ4& p, const Q4Pass& pass) {
  constexpr int words = wide ? 4 : 2;
  const int group_words = pass.columns.group_words;
  const int stage_step = pass.columns.stage_words;
  const int units = pass.columns.rows_at_once / q4_unit_rows;
  const int end = min(pass.groups, pass.first_group + units * pass.step);
  const int64_t source_step = static_cast<int64_t>(pass.step) * pass.columns.tiles * q4_tile_words;
  Q4Source source = q4_source<words>(p, pass);
  int ahead = pass.first_group + lane() / 16;
  const auto ask = [&](int stage_words) {
    if (ahead < end) {
      q4_ask<words>(source, stage_words);
      ahead += pass.step;
      source.from = source.from + source_step;
    }
    close_copies();
  };
  int asked = 0;
  GDN_ROLLED
  for (; asked < p.stages_before_x; ++asked) ask(asked * stage_step);
  wait_for_launches_before();
  Q4Inputs read;
  q4_read(read, p.x + 32 * pass.share.first_tile, pass.share.tiles);
  GDN_ROLLED
  for (; asked < q4_stages; ++asked) ask(asked * stage_step);
  Q4Activations held;
  q4_hold(held, read, pass.between);
  int stage_words = 0;
  shared<float> sums = pass.sums + lane() / 4;
  for (int group = pass.first_group; group < end; group += pass.step) {
    wait_for_copies<q4_stages - 1>();
    syncwarp();
    float sum = q4_sum_of_pairs<pairs>(pass.ring + stage_words, held, group_words,
                                       wide || pass.share.tiles % 2 == 0);
    syncwarp();
    ask(stage_words);
    stage_words += stage_step;
    if (stage_words == q4_stages * stage_step) stage_words = 0;
    sum += shuffle_xor(full_mask, sum, 1);
    sum += shuffle_xor(full_mask, sum, 2);
    if (lane() % 4 == 0) {
      if (pass.adds) sum += static_cast<float>(sums[0]);
      sums[0] = sum;
    }
    sums = sums + q4_unit_rows;
  }
}

// A constant number of pairs, so that what one pair waits for is filled with what another does.
template <bool wide>
GDN_DEVICE void q4_pass_of(const GemvQ4& p, const Q4Pass& pass) {
  switch ((pass.share.tiles + 1) / 2) {
    case 1:
      return q4_pass<1, wide>(p, pass);
    case 2:
      return q4_pass<2, wide>(p, pass);
    case 3:
      return q4_pass<3, wide>(p, pass);
    case 4:
      return q4_pass<4, wide>(p, pass);
    case 5:
      return q4_pass<5, wide>(p, pass);
    case 6:
      return q4_pass<6, wide>(p, pass);
    default:
      return q4_pass<0, wide>(p, pass);
  }
}

// The units of one block of several that share a matrix. Warps beyond those of the columns only
// wait at its barriers. Depth: a lane's chain of fused multiply-adds, one a pair of tiles of its
// warp, then 2 additions over lanes, those over chunks, and 4 over warps; all else is exact but for
// the rounding of x to X.
template <bool wide>
GDN_DEVICE void gemv_q4_block(const GemvQ4& p, int block, int blocks) {
  const Q4Columns columns = q4_columns(p.cols);
  const int ring_words = q4_ring_words(columns);
  const int warp_words = q4_warp_words(columns);
  const shared<uint32_t> of_warp = dynamic_shared<uint32_t>() + warp_index() * warp_words;
  const shared<float> sums = dynamic_shared<float>() + columns.warps * warp_words;
  Q4Pass pass = {.columns = columns,
                 .share = {},
                 .first_group = 2 * block,
                 .step = 2 * blocks,
                 .groups = static_cast<int>(p.rows / 4),
                 .adds = false,
                 .ring = of_warp,
                 .between = of_warp + ring_words,
                 .sums = sums + warp_index() * columns.rows_at_once};
  const bool takes_part = warp_index() < columns.warps;
  if (takes_part && (!wide || pass.groups % 2 != 0)) {
    // What no tile is copied to.
    for (int i = lane(); i < ring_words; i += warp_size) pass.ring[i] = 0;
    syncwarp();
  }
  while (pass.first_group < pass.groups) {
    for (int chunk = 0; chunk < columns.chunks && takes_part; ++chunk) {
      pass.share = q4_share(columns, chunk);
      pass.adds = chunk > 0;
      q4_pass_of<wide>(p, pass);
    }
    barrier();
    for (int row = thread_index(); row < columns.rows_at_once; row += thread_count()) {
      const int group = pass.first_group + row / q4_unit_rows * pass.step;
      const int64_t at = 4 * static_cast<int64_t>(group) + row % q4_unit_rows;
      if (at < p.rows) p.y[at] = q4_row_sum(sums, row, columns);
    }
    barrier();
    pass.first_group += columns.rows_at_once / q4_unit_rows * pass.step;
  }
}

// Whole pairs of tiles, copied by 16 bytes: cols a multiple of 64 and tiles aligned to 16.
GDN_KERNEL void gemv_q4(const GemvQ4& p) { gemv_q4_block<true>(p, block_index(), block_count()); }
// Any, copied by 8 bytes. A kernel of its own, as code that is there slows down code that is run.
GDN_KERNEL void gemv_q4_narrow(const GemvQ4& p) {
  gemv_q4_block<false>(p, block_index(), block_count());
}

}  // namespace gdn::inline GDN_MACHINE::kernels

namespace gdn::inline GDN_MACHINE {

// What a warp holds needs some 110 registers a thread.
template <>
inline constexpr int block_threads_max<kernels::gemv_q4> = 32 * kernels::q4_warps_max;
template <>
inline constexpr int block_threads_max<kernels::gemv_q4_narrow> =
    block_threads_max<kernels::gemv_q4>;
template <>
inline constexpr bool begins_early<kernels::gemv_q4> = true;
template <>
inline constexpr bool begins_early<kernels::gemv_q4_narrow> = true;

}  // namespace gdn::inline GDN_MACHINE
