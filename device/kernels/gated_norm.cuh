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

// Of the first element that the calling thread has of a head.
struct GatedNormInputs {
  float w, z;
};

GDN_DEVICE GatedNormInputs gated_norm_inputs(const GatedNorm& p, int64_t head, int64_t i) {
  if (i >= p.head_dim) return {};
  return {p.w[i], p.z[head * p.head_dim + i]};
}

// By a block, of a head's o. Order: stride 32 fused, tree_adjacent. Form: ((o rsqrt(sum / head_dim
// + eps)) w) silu(z).
template <class Numbers>
GDN_DEVICE void gated_norm_of_head(const GatedNorm& p, int64_t head, const Numbers& o,
                                   GatedNormInputs inputs) {
  const float squares = warp_tree_sum(lane_sum_of_squares(o, p.head_dim));
  const float mean = squares / static_cast<float>(p.head_dim);
  const float factor = rsqrt_f32(mean + p.eps);
  barrier();  // y may be o, of which every warp has read all by now
  for (int64_t i = thread_index(); i < p.head_dim; i += thread_count()) {
    if (i >= thread_count()) inputs = gated_norm_inputs(p, head, i);
    const float quotient = o[i] * factor;
    p.y[head * p.head_dim + i] = quotient * inputs.w * silu_f32(inputs.z);
  }
}

GDN_KERNEL void gated_norm(const GatedNorm& p) {
  const int64_t head = block_index();
  gated_norm_of_head(p, head, p.o + head * p.head_dim, gated_norm_inputs(p, head, thread_index()));
}

}  // namespace gdn::inline GDN_MACHINE::kernels
