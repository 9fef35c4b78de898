// y = silu(sum_j w[c][j] window_j[c]), window = history oldest first, then x; then the history
// drops its oldest row and takes x. A channel a thread.
#pragma once

#include <cstdint>

#include "device/kernels/elementary.cuh"
#include "device/kernels/platform.h"

namespace gdn::inline GDN_MACHINE::kernels {

struct Conv {
  global<const float> x;       // [channels]
  global<const float> weight;  // [channels][taps], the last tap multiplies x
  global<float> history;       // [taps - 1][channels], oldest first
  global<float> y;             // [channels]
  int64_t channels;
  int64_t taps;  // from 1 on
};

// Threads: any.
inline LaunchShape conv_shape(int64_t channels, [[maybe_unused]] int64_t taps,
                              unsigned threads = 64) {
  return {.blocks = static_cast<unsigned>((channels + threads - 1) / threads), .threads = threads};
}

// Returns y. Order: serial fused. Four taps at a time; of the first ones all loads are under way,
// and all but the newest is added up, before the wait: no launch before writes weights or history.
GDN_DEVICE float conv_of_channel(const Conv& p, int64_t c) {
  constexpr int taps_at_once = 4;
  const global<const float> weight = p.weight + c * p.taps;
  const global<float> history = p.history + c;
  const int64_t newest = p.taps - 1;
  const float newest_weight = weight[newest];
  float sum = 0;
  float x = 0;
  for (int64_t first = 0; first == 0 || first < newest; first += taps_at_once) {
    float w[taps_at_once] = {};
    float window[taps_at_once + 1] = {};
    GDN_UNROLL
    for (int j = 0; j <= taps_at_once; ++j) {
      const int64_t tap = first + j;
      if (tap >= newest) continue;
      if (j < taps_at_once) w[j] = weight[tap];
      window[j] = history[tap * p.channels];
    }
    GDN_UNROLL
    for (int j = 0; j < taps_at_once; ++j) {
      if (first + j < newest) sum = fused_multiply_add(w[j], window[j], sum);
    }
    if (first == 0) {
      wait_for_launches_before();
      x = p.x[c];
    }
    GDN_UNROLL
    for (int j = 0; j < taps_at_once; ++j) {
      const int64_t tap = first + j;
      if (tap < newest) history[tap * p.channels] = tap + 1 == newest ? x : window[j + 1];
    }
  }
  const float y = silu_f32(fused_multiply_add(newest_weight, x, sum));
  p.y[c] = y;
  return y;
}

GDN_KERNEL void conv(const Conv& p) {
  const int64_t c = static_cast<int64_t>(block_index()) * thread_count() + thread_index();
  if (c >= p.channels) return;
  conv_of_channel(p, c);
}

}  // namespace gdn::inline GDN_MACHINE::kernels

namespace gdn::inline GDN_MACHINE {

template <>
inline constexpr bool begins_early<kernels::conv> = true;

}  // namespace gdn::inline GDN_MACHINE
