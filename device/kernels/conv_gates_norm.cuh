// What stands between a layer's large projections and its recurrence, in one launch: the small
// projections b and a with the gates, the conv of every channel, the norm of q and k. A block takes
// a v-head's gates, a head of q or of k, or channels of v; what it computes is what gemv_f32,
// gates, conv and qk_norm do. The launch before must have waited for what writes h: b, a and the
// gates are computed while it ends.
#pragma once

#include <cstdint>

#include "device/kernels/conv.cuh"
#include "device/kernels/gates.cuh"
#include "device/kernels/gemv_f32.cuh"
#include "device/kernels/platform.h"
#include "device/kernels/qk_norm.cuh"

namespace gdn::inline GDN_MACHINE::kernels {

struct ConvGatesNorm {
  Conv conv;     // channels of q, then k, then v
  GemvF32 b, a;  // [v-heads] each, of one h
  Gates gates;   // of every v-head, from those
  QkNorm norm;   // of what the conv gives as q and k
};

// Threads: any multiple of 64 from 128 on.
inline LaunchShape conv_gates_norm_shape(int64_t channels, int64_t k_heads, int64_t head_dim,
                                         int64_t v_heads, unsigned threads = 128) {
  const int64_t of_v = channels - 2 * k_heads * head_dim;
  return {.blocks = static_cast<unsigned>(v_heads + 2 * k_heads + (of_v + threads - 1) / threads),
          .threads = threads};
}

// `parts`: A_log, dt_bias, then decay_rate.
GDN_DEVICE void projected_gates_of_head(const ConvGatesNorm& p, int64_t head,
                                        const shared<float>& of_warp, const shared<float>& parts) {
  constexpr int steps_at_once = 20;  // all of 5120 columns
  Steps<float> steps;
  steps([&](float& sum) {
    const int which = thread_index() / gemv_threads_a_row;
    const bool reads_weight = lane() == 0 && warp_index() < 2;
    float weight = 0;
    if (reads_weight) weight = (warp_index() == 0 ? p.gates.A_log : p.gates.dt_bias)[head];
    if (which < 2) {
      sum = gemv_thread_sum<steps_at_once, GemvX::before_wait>(which == 0 ? p.b : p.a, head);
    }
    if (reads_weight) parts[warp_index()] = weight;
  });
  steps.warp_tree_sum();
  steps([&](const float& sum) {
    if (lane() == 0 && warp_index() < 2 * gemv_warps_a_row) of_warp[warp_index()] = sum;
  });
  steps.barrier();
  // One thread of each of three warps, side by side.
  steps([&](float& part) {
    if (lane() != 0) return;
    const float a = of_warp[2] + of_warp[3];
    const float x = a + parts[1];
    if (warp_index() == 0) part = decay_time(x);
    if (warp_index() == 1) parts[2] = decay_rate(x, parts[0]);
    if (warp_index() == 2) part = sigmoid_f32(of_warp[0] + of_warp[1]);
  });
  steps.barrier();
  steps([&](const float& part) {
    if (lane() != 0) return;
    if (warp_index() == 0) {
      const LogDecay decay = log_decay_of(parts[2], part);
      wait_for_launches_before();
      p.a.y[head] = of_warp[2] + of_warp[3];
      store_decay(p.gates, head, decay);
    }
    if (warp_index() == 2) {
      wait_for_launches_before();
      p.b.y[head] = of_warp[0] + of_warp[1];
      p.gates.beta[head] = part;
    }
  });
}

// What the conv gives of a head: the first channels in shared memory, all in global.
inline constexpr int convolved_held = 256;
struct ConvolvedHead {
  shared<float> first;
  global<const float> all;
  GDN_DEVICE float operator[](int64_t i) const {
    if (i < convolved_held) return first[i];
    return all[i];
  }
};

// A head of q or of k: its channels, then the norm, for which each warp adds up all squares.
GDN_DEVICE void convolved_and_normed_head(const ConvGatesNorm& p, int64_t index,
                                          const shared<float>& convolved) {
  const QkNormHead head = qk_norm_head(p.norm, index);
  const ConvolvedHead x = {convolved, head.x};
  Steps<float> steps;
  steps([&](float&) {
    for (int64_t i = thread_index(); i < p.norm.head_dim; i += thread_count()) {
      const float y = conv_of_channel(p.conv, index * p.norm.head_dim + i);
      if (i < convolved_held) convolved[i] = y;
    }
  });
  steps.barrier();
  steps([&](float& sum) { sum = lane_sum_of_squares(x, p.norm.head_dim); });
  steps.warp_tree_sum();
  steps([&](const float& sum) {
    qk_norm_of_head(p.norm, head, x, sum, thread_index(), thread_count());
  });
}

GDN_KERNEL void conv_gates_norm(const ConvGatesNorm& p) {
  GDN_SHARED(float, of_warp, 2 * gemv_warps_a_row);
  GDN_SHARED(float, parts, 3);
  GDN_SHARED(float, convolved, convolved_held);
  int64_t block = block_index();
  if (block < p.gates.count) return projected_gates_of_head(p, block, of_warp, parts);
  block -= p.gates.count;
  const int64_t heads = 2 * p.norm.k_heads;
  if (block < heads) return convolved_and_normed_head(p, block, convolved);
  const int64_t first = heads * p.norm.head_dim + (block - heads) * thread_count();
  Steps<float> steps;
  steps([&](float&) {
    const int64_t channel = first + thread_index();
    if (channel < p.conv.channels) conv_of_channel(p.conv, channel);
  });
}

}  // namespace gdn::inline GDN_MACHINE::kernels

namespace gdn::inline GDN_MACHINE {

// What a thread has read ahead of b or a needs some 170 registers.
template <>
inline constexpr int block_threads_max<kernels::conv_gates_norm> = 256;
template <>
inline constexpr bool begins_early<kernels::conv_gates_norm> = true;
template <>
inline constexpr bool runs_by_steps<kernels::conv_gates_norm> = true;

}  // namespace gdn::inline GDN_MACHINE
