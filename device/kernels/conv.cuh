// y = silu(sum_j w[c][j] window_j[c]), window = history oldest first, then x; then the history
// drops its oldest row and takes x. A channel a thread.
#pragma once

#include <cstdint>

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
inline LaunchShape conv_shape(int64_t channels, [[maybe_unused]] int64_t taps) {
  return {.blocks = static_cast<unsigned>((channels + 63) / 64), .threads = 64};
}

// Order: serial fused.
GDN_KERNEL void conv(const Conv& p);

}  // namespace gdn::inline GDN_MACHINE::kernels
