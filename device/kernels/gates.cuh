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
  global<float> decay = {};                  // [count] or null: exp(g)
};

// Threads: any.
inline LaunchShape gates_shape(int64_t count, unsigned threads = 32) {
  return {.blocks = static_cast<unsigned>((count + threads - 1) / threads), .threads = threads};
}

// The two factors of -g.
GDN_DEVICE float decay_rate(float x, float A_log) {
  return exp_f32(x < -20.0F ? A_log + x : A_log);
}
GDN_DEVICE float decay_time(float x) { return x < -20.0F ? 1.0F : softplus_f32(x); }

struct LogDecay {
  float g, exp_g;
};
GDN_DEVICE LogDecay log_decay_of(float rate, float time) {
  const float g = -rate * time;
  return {g, exp_f32(g)};
}
GDN_DEVICE void store_decay(const Gates& p, int64_t i, const LogDecay& of_head) {
  p.g[i] = of_head.g;
  if (p.decay.present()) p.decay[i] = of_head.exp_g;
}

GDN_KERNEL void gates(const Gates& p) {
  const int64_t i = static_cast<int64_t>(block_index()) * thread_count() + thread_index();
  if (i >= p.count) return;
  const float x = p.a[i] + p.dt_bias[i];
  store_decay(p, i, log_decay_of(decay_rate(x, p.A_log[i]), decay_time(x)));
  p.beta[i] = sigmoid_f32(p.b[i]);
}

}  // namespace gdn::inline GDN_MACHINE::kernels
