// Per k-head: k / sqrt(sum k^2 + eps), and q / sqrt(sum q^2 + eps) times q_scale. A warp a head of
// q or of k: the first k_heads warps take q.
#pragma once

#include <cstdint>

#include "device/kernels/elementary.cuh"
#include "device/kernels/platform.h"

namespace gdn::inline GDN_MACHINE::kernels {

// An output may be its own input.
struct QkNorm {
  global<const float> q, k;          // [k_heads][head_dim]
  global<float> q_normed, k_normed;  // [k_heads][head_dim]
  int64_t k_heads;
  int64_t head_dim;
  float eps;
  float q_scale;  // q_scale_of(head_dim), or a given one
};

// The float32 nearest to 1 / sqrt(head_dim).
GDN_HOST_DEVICE inline float q_scale_of(int64_t head_dim) {
  return rsqrt_f32(static_cast<float>(head_dim));
}

// Threads: any multiple of 32.
inline LaunchShape qk_norm_shape(int64_t k_heads, [[maybe_unused]] int64_t head_dim) {
  return {.blocks = static_cast<unsigned>(2 * k_heads), .threads = 32};
}

// Order: stride 32 fused, tree_adjacent.
GDN_KERNEL void qk_norm(const QkNorm& p);

}  // namespace gdn::inline GDN_MACHINE::kernels
