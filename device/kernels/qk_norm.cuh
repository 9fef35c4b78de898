// Per k-head: k / sqrt(sum k^2 + eps), and q / sqrt(sum q^2 + eps) times q_scale. A warp a head of
// q or of k: the first k_heads warps take q.
#pragma once

#include <cstdint>

#include "device/kernels/elementary.cuh"
#include "device/kernels/platform.h"
#include "device/kernels/tree_sum.cuh"

namespace gdn::inline GDN_MACHINE::kernels {

// An output may be its own input.
struct QkNorm {
  global<const float> q, k;          // [k_heads][head_dim]
  global<float> q_normed, k_normed;  // [k_heads][head_dim]
  int64_t k_heads;
  int64_t head_dim;
  float eps;
  float q_scale;  // q_scale_of(head_dim), or a given one
  // 1 / sqrt(sum + eps) is at most this: x / max(|x|, eps) has eps = 0 here, and 1 / eps.
  float factor_max = elementary::positive_infinity();
};

// The float32 nearest to 1 / sqrt(head_dim).
GDN_HOST_DEVICE inline float q_scale_of(int64_t head_dim) {
  return rsqrt_f32(static_cast<float>(head_dim));
}

// Threads: any multiple of 32.
inline LaunchShape qk_norm_shape(int64_t k_heads, [[maybe_unused]] int64_t head_dim,
                                 unsigned threads = 32) {
  const int64_t warps = threads / 32;
  return {.blocks = static_cast<unsigned>((2 * k_heads + warps - 1) / warps), .threads = threads};
}

// A head of q or of k; the first k_heads are of q.
struct QkNormHead {
  global<const float> x;
  global<float> normed;
  bool is_q;
};

GDN_DEVICE QkNormHead qk_norm_head(const QkNorm& p, int64_t head) {
  const bool is_q = head < p.k_heads;
  const int64_t begin = (is_q ? head : head - p.k_heads) * p.head_dim;
  return {(is_q ? p.q : p.k) + begin, (is_q ? p.q_normed : p.k_normed) + begin, is_q};
}

// Elements `first`, first + step, ... of a head's x. Order of the sum: stride 32 fused,
// tree_adjacent. Form: x rsqrt(sum + eps), and q that times its scale.
template <class Numbers>
GDN_DEVICE void qk_norm_of_head(const QkNorm& p, const QkNormHead& head, const Numbers& x,
                                float sum_of_squares, int first, int step) {
  const float of_sum = rsqrt_f32(sum_of_squares + p.eps);
  const float factor = of_sum > p.factor_max ? p.factor_max : of_sum;
  for (int64_t i = first; i < p.head_dim; i += step) {
    const float quotient = x[i] * factor;
    head.normed[i] = head.is_q ? quotient * p.q_scale : quotient;
  }
}

GDN_KERNEL void qk_norm(const QkNorm& p) {
  const int warps = thread_count() / warp_size;
  const int64_t first = static_cast<int64_t>(block_index()) * warps;
  Steps<float> steps;
  steps([&](float& sum) {
    const int64_t head = first + warp_index();
    if (head < 2 * p.k_heads) sum = lane_sum_of_squares(qk_norm_head(p, head).x, p.head_dim);
  });
  steps.warp_tree_sum();
  steps([&](const float& sum) {
    const int64_t index = first + warp_index();
    if (index >= 2 * p.k_heads) return;
    const QkNormHead head = qk_norm_head(p, index);
    qk_norm_of_head(p, head, head.x, sum, lane(), warp_size);
  });
}

}  // namespace gdn::inline GDN_MACHINE::kernels

namespace gdn::inline GDN_MACHINE {

template <>
inline constexpr bool runs_by_steps<kernels::qk_norm> = true;

}  // namespace gdn::inline GDN_MACHINE
