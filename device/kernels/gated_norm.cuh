// Per v-head: y = o / sqrt(mean(o^2) + eps) w silu(z). A block a head: each of its warps adds up
// all squares, and its threads share the elements.
#pragma once

#include <cstdint>

#include "device/kernels/elementary.cuh"
#include "device/kernels/platform.h"
#include "device/kernels/tree_sum.cuh"

namespace gdn::inline GDN_MACHINE::kernels {

// y may be o or z.
struct GatedNorm {
  global<const float> o, z;  // [heads][head_dim]
  global<const float> w;     // [head_dim]
  global<float> y;           // [heads][head_dim]
  int64_t heads;
  int64_t head_dim;
  float eps;
};

// Threads: any multiple of 32, the bits do not depend on it.
inline LaunchShape gated_norm_shape(int64_t heads, [[maybe_unused]] int64_t head_dim,
                                    unsigned threads = 128) {
  return {.blocks = static_cast<unsigned>(heads), .threads = threads};
}

GDN_DEVICE float gated_norm_factor(const GatedNorm& p, float sum_of_squares) {
  const float mean = sum_of_squares / static_cast<float>(p.head_dim);
  return rsqrt_f32(mean + p.eps);
}

// Order: stride 32 fused, tree_adjacent. Form: ((o rsqrt(sum / head_dim + eps)) w) silu(z).
GDN_KERNEL void gated_norm(const GatedNorm& p) {
  const int64_t begin = block_index() * p.head_dim;
  const global<const float> o = p.o + begin;
  const global<const float> z = p.z + begin;
  const global<float> y = p.y + begin;
  const float factor = gated_norm_factor(p, warp_tree_sum(lane_sum_of_squares(o, p.head_dim)));
  barrier();  // y may be o, of which every warp has read all by now
  for (int64_t i = thread_index(); i < p.head_dim; i += thread_count()) {
    const float quotient = o[i] * factor;
    y[i] = quotient * p.w[i] * silu_f32(z[i]);
  }
}

}  // namespace gdn::inline GDN_MACHINE::kernels
