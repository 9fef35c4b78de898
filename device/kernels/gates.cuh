// beta = sigmoid(b); x = a + dt_bias; g = -exp(A_log) softplus(x) from x = -20 on, below it
// -exp(A_log + x), so that exp(A_log) = inf never meets softplus = 0. A v-head a thread.
#pragma once

#include <cstdint>

#include "device/kernels/elementary.cuh"
#include "device/kernels/platform.h"

namespace gdn::inline GDN_MACHINE::kernels {

struct Gates {
  global<const float> a, b, A_log, dt_bias;  // [count]
  global<float> beta, g;                     // [count]
  int64_t count;                             // v-heads
};

// Threads: any.
inline LaunchShape gates_shape(int64_t count, unsigned threads = 32) {
  return {.blocks = static_cast<unsigned>((count + threads - 1) / threads), .threads = threads};
}

GDN_DEVICE float log_decay(float x, float A_log) {
  if (x < -20.0F) return -exp_f32(A_log + x);
  return -exp_f32(A_log) * softplus_f32(x);
}

// What a head's gates need beside a and b.
struct GateWeights {
  float A_log, dt_bias;
};

GDN_DEVICE GateWeights gate_weights(const Gates& p, int64_t i) {
  return {p.A_log[i], p.dt_bias[i]};
}

GDN_DEVICE void gates_of(const Gates& p, int64_t i, const GateWeights& weights, float a, float b) {
  p.g[i] = log_decay(a + weights.dt_bias, weights.A_log);
  p.beta[i] = sigmoid_f32(b);
}

GDN_KERNEL void gates(const Gates& p) {
  const int64_t i = static_cast<int64_t>(block_index()) * thread_count() + thread_index();
  if (i >= p.count) return;
  gates_of(p, i, gate_weights(p, i), p.a[i], p.b[i]);
}

}  // namespace gdn::inline GDN_MACHINE::kernels
