// beta = sigmoid(b); x = a + dt_bias; g = -exp(A_log) softplus(x) from x = -20 on, below it
// -exp(A_log + x), so that exp(A_log) = inf never meets softplus = 0. A v-head a thread.
#pragma once

#include <cstdint>

#include "device/kernels/platform.h"

namespace gdn::inline GDN_MACHINE::kernels {

struct Gates {
  global<const float> a, b, A_log, dt_bias;  // [count]
  global<float> beta, g;                     // [count]
  int64_t count;                             // v-heads
};

// Threads: any.
inline LaunchShape gates_shape(int64_t count) {
  return {.blocks = static_cast<unsigned>((count + 31) / 32), .threads = 32};
}

GDN_KERNEL void gates(const Gates& p);

}  // namespace gdn::inline GDN_MACHINE::kernels
