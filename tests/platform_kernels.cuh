// Small kernels that use every part of platform.h, for tests of the simulator and, compiled by
// nvcc, for the same numbers on a GPU. Each says its thread map.
#pragma once

#include "device/kernels/platform.h"

namespace gdn::inline GDN_MACHINE {

// y[r] = sum of row r of x. One block a row: each thread sums a stride, each warp its lanes, the
// first warp the warps. Threads a multiple of 32.
struct RowSums {
  global<const float> x;  // [rows][cols]
  global<float> y;        // [rows]
  int32_t cols;
};

GDN_KERNEL void row_sums(const RowSums& p) {
  GDN_SHARED(float, of_warp, 32);
  const global<const float> row = p.x + static_cast<int64_t>(block_index()) * p.cols;
  float sum = 0;
  for (int i = thread_index(); i < p.cols; i += thread_count()) sum += row[i];
  sum = warp_sum(sum);
  if (lane() == 0) of_warp[warp_index()] = sum;
  barrier();
  if (warp_index() > 0) return;
  const int warps = thread_count() / warp_size;
  float part = 0;
  if (lane() < warps) part = of_warp[lane()];
  part = warp_sum(part);
  if (lane() == 0) p.y[block_index()] = part;
}

// Channel c: y[c] = sum_j weight[c][j] window_j[c], oldest first; then the history, of taps - 1
// inputs, drops its oldest and takes the new one. One thread a channel.
struct ConvTaps {
  global<const float> x;       // [channels]
  global<float> history;       // [taps - 1][channels], oldest first
  global<const float> weight;  // [channels][taps]
  global<float> y;             // [channels]
  int32_t channels;
  int32_t taps;
};

GDN_KERNEL void conv_taps(const ConvTaps& p) {
  const int c = block_index() * thread_count() + thread_index();
  if (c >= p.channels) return;
  const global<const float> weight = p.weight + static_cast<int64_t>(c) * p.taps;
  const global<float> history = p.history + c;
  const float newest = p.x[c];
  float sum = 0;
  for (int j = 0; j + 1 < p.taps; ++j) {
    const float old = history[static_cast<int64_t>(j) * p.channels];
    sum += weight[j] * old;
    if (j > 0) history[static_cast<int64_t>(j - 1) * p.channels] = old;
  }
  sum += weight[p.taps - 1] * newest;
  if (p.taps > 1) history[static_cast<int64_t>(p.taps - 2) * p.channels] = newest;
  p.y[c] = sum;
}

// y = w x, one warp a row; a lane takes four columns of every 128. cols a multiple of 4.
struct MatrixVector {
  global<const float> w;  // [rows][cols]
  global<const float> x;  // [cols]
  global<float> y;        // [rows]
  int32_t rows;
  int32_t cols;
};

GDN_KERNEL void matrix_vector(const MatrixVector& p) {
  const int row = block_index() * (thread_count() / warp_size) + warp_index();
  if (row >= p.rows) return;
  const global<const float> w = p.w + static_cast<int64_t>(row) * p.cols;
  float sum[4] = {0, 0, 0, 0};
  for (int i = 4 * lane(); i < p.cols; i += 4 * warp_size) {
    const auto weights = load_streaming<4>(w, i);
    const auto inputs = load<4>(p.x, i);
    GDN_UNROLL
    for (int k = 0; k < 4; ++k) sum[k] = fused_multiply_add(weights[k], inputs[k], sum[k]);
  }
  const float total = warp_sum((sum[0] + sum[1]) + (sum[2] + sum[3]));
  if (lane() == 0) p.y[row] = total;
}

// What each numeric function makes of bit patterns: numbers_per_input words of output an input.
// One thread an input; as many inputs as whole warps have.
inline constexpr int numbers_per_input = 23;
struct Numbers {
  global<const uint32_t> bits;
  global<uint32_t> out;
  int32_t count;
};

GDN_KERNEL void numbers(const Numbers& p) {
  const int i = block_index() * thread_count() + thread_index();
  if (i >= p.count) return;
  const uint32_t bits = p.bits[i];
  const uint32_t next = p.bits[(i + 1) % p.count];
  const float x = bits_float(bits);
  const float y = bits_float(next);
  const global<uint32_t> out = p.out + static_cast<int64_t>(i) * numbers_per_input;
  out[0] = float_bits(half_to_float(static_cast<uint16_t>(bits)));
  out[1] = float_to_half(x);
  out[2] = float_bits(bfloat16_to_float(static_cast<uint16_t>(bits >> 16)));
  out[3] = float_to_bfloat16(x);
  out[4] = static_cast<uint32_t>(to_int_toward_zero(x));
  out[5] = static_cast<uint32_t>(to_int_nearest_even(x));
  out[6] = float_bits(round_half_away(x));
  out[7] = float_bits(min(x, y));
  out[8] = float_bits(max(x, y));
  out[9] = static_cast<uint32_t>(dp4a(static_cast<int32_t>(bits), static_cast<int32_t>(next), 1));
  out[10] = float_bits(x / y);
  out[11] = float_bits(square_root(x));
  out[12] = float_bits(fused_multiply_add(x, y, x));
  out[13] = float_bits(x * y + x);
  out[14] = float_bits(absolute(x));
  out[15] = static_cast<uint32_t>(min(static_cast<int32_t>(bits), static_cast<int32_t>(next)));
  out[16] = permute_bytes(bits, next, (bits ^ next) & 0x7777U);
  const Pack<int32_t, 4> products =
      matrix_product_s8({bits, next, bits ^ next, ~bits}, {next, bits + next});
  GDN_UNROLL
  for (int k = 0; k < 4; ++k) out[17 + k] = static_cast<uint32_t>(products[k]);
  GDN_SHARED(uint32_t, arrived, 1024);
  if (i % 2 == 0) copy_async<2>(arrived, thread_index(), p.bits, i);
  close_copies();
  wait_for_copies<0>();
  syncwarp();
  out[21] = arrived[thread_index() ^ 1];
  const uint32_t near_one = (bits & 0x87ffffffU) + 0x38000000U;  // 2^-15 to 2
  out[22] = float_bits(warp_tree_sum(bits_float(near_one)));
}

}  // namespace gdn::inline GDN_MACHINE
