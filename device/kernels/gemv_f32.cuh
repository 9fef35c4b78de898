// y = W x with W in float32. Two warps a row: a lane takes four columns of every 256, so that a
// warp reads 512 neighbouring bytes at once. A block takes as many rows as it has pairs of warps.
#pragma once

#include <cstdint>

#include "device/kernels/platform.h"
#include "device/kernels/tree_sum.cuh"

namespace gdn::inline GDN_MACHINE::kernels {

// W and x aligned to 16 bytes; any rows and cols from 1 on.
struct GemvF32 {
  global<const float> w;  // [rows][cols]
  global<const float> x;  // [cols]
  global<float> y;        // [rows]
  int64_t rows;
  int64_t cols;
};

// Threads: any multiple of 64, the bits do not depend on it.
inline LaunchShape gemv_f32_shape(int64_t rows, [[maybe_unused]] int64_t cols,
                                  unsigned threads = gemv_threads_a_row) {
  const int64_t rows_a_block = threads / gemv_threads_a_row;
  return {.blocks = static_cast<unsigned>((rows + rows_a_block - 1) / rows_a_block),
          .threads = threads};
}

// When x is read: after the wait for the launch before; or before it, as that one has waited for
// the launch that writes x.
enum class GemvX { after_wait, before_wait };

template <GemvX when, int N>
GDN_DEVICE Pack<float, N> gemv_x(const GemvF32& p, int64_t i) {
  return when == GemvX::before_wait ? load_coherent<N>(p.x, i) : load<N>(p.x, i);
}

// Columns i to i + 3, zeros beyond the last; `load_one` gives a column.
template <class LoadOne>
GDN_DEVICE Pack<float, 4> gemv_unaligned_columns(int64_t i, int64_t cols, const LoadOne& load_one) {
  Pack<float, 4> values = {};
  GDN_UNROLL
  for (int j = 0; j < 4; ++j) {
    if (i + j < cols) values[j] = load_one(i + j);
  }
  return values;
}

// Of one row, what the calling lane takes: the columns at 4 lane, then 256 further on, ... All
// loads of several steps are under way before the first is used; no launch before writes weights.
template <bool aligned, int steps_at_once, GemvX when>
GDN_DEVICE float gemv_lane_sum(const GemvF32& p, const global<const float>& row, int lane_of_row) {
  constexpr int step = gemv_columns_a_step;
  float sum[4] = {};
  for (int64_t i = 4 * lane_of_row; i < p.cols; i += steps_at_once * step) {
    Pack<float, 4> w[steps_at_once] = {};
    Pack<float, 4> x[steps_at_once] = {};
    GDN_UNROLL
    for (int s = 0; s < steps_at_once; ++s) {
      const int64_t at = i + s * step;
      if (at >= p.cols) continue;
      if constexpr (aligned) {
        w[s] = load_streaming<4>(row, at);
      } else {
        w[s] = gemv_unaligned_columns(at, p.cols, [&](int64_t c) { return row[c]; });
      }
    }
    if (when == GemvX::after_wait && i == 4 * lane_of_row) wait_for_launches_before();
    GDN_UNROLL
    for (int s = 0; s < steps_at_once; ++s) {
      const int64_t at = i + s * step;
      if (at >= p.cols) continue;
      if constexpr (aligned) {
        x[s] = gemv_x<when, 4>(p, at);
      } else {
        x[s] =
            gemv_unaligned_columns(at, p.cols, [&](int64_t c) { return gemv_x<when, 1>(p, c)[0]; });
      }
    }
    GDN_UNROLL
    for (int s = 0; s < steps_at_once; ++s) {
      GDN_UNROLL
      for (int j = 0; j < 4; ++j) sum[j] = fused_multiply_add(w[s][j], x[s][j], sum[j]);
    }
  }
  return block_of_4_sum(sum[0], sum[1], sum[2], sum[3]);
}

// What a thread has of a row that two warps share, the first of them for the columns below 128 of
// every 256. Order: stride 256 fused, block 4, tree_adjacent. Column i of 256 is accumulator i % 4
// of lane i / 4; neighbouring lanes are added first, the two warps last.
template <int steps_at_once = 10, GemvX when = GemvX::after_wait>
GDN_DEVICE float gemv_thread_sum(const GemvF32& p, int64_t row) {
  const int lane_of_row = thread_index() % gemv_threads_a_row;
  const global<const float> w = p.w + row * p.cols;
  return p.cols % 4 == 0 ? gemv_lane_sum<true, steps_at_once, when>(p, w, lane_of_row)
                         : gemv_lane_sum<false, 1, when>(p, w, lane_of_row);
}

GDN_KERNEL void gemv_f32(const GemvF32& p) {
  GDN_SHARED(float, of_warp, 32);
  const int rows_a_block = thread_count() / gemv_threads_a_row;
  const int64_t first_row = static_cast<int64_t>(block_index()) * rows_a_block;
  Steps<float> steps;
  steps([&](float& sum) {
    const int64_t row = first_row + thread_index() / gemv_threads_a_row;
    if (row < p.rows) sum = gemv_thread_sum(p, row);
  });
  steps.warp_tree_sum();
  steps([&](const float& sum) {
    if (lane() == 0) of_warp[warp_index()] = sum;
  });
  steps.barrier();
  steps([&](const float&) {
    const int row_of_block = thread_index() / gemv_threads_a_row;
    const int64_t row = first_row + row_of_block;
    if (thread_index() % gemv_threads_a_row != 0 || row >= p.rows) return;
    const float first = of_warp[gemv_warps_a_row * row_of_block];
    const float second = of_warp[gemv_warps_a_row * row_of_block + 1];
    p.y[row] = first + second;
  });
}

}  // namespace gdn::inline GDN_MACHINE::kernels

namespace gdn::inline GDN_MACHINE {

// What a thread has read ahead needs some 110 registers.
template <>
inline constexpr int block_threads_max<kernels::gemv_f32> = 256;
template <>
inline constexpr bool begins_early<kernels::gemv_f32> = true;
template <>
inline constexpr bool runs_by_steps<kernels::gemv_f32> = true;

}  // namespace gdn::inline GDN_MACHINE
