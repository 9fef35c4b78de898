// Per v-head: y = o / sqrt(mean(o^2) + eps) w silu(z). A warp a head.
#pragma once

#include <cstdint>

#include "device/kernels/platform.h"

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

// Threads: any multiple of 32.
inline LaunchShape gated_norm_shape(int64_t heads, [[maybe_unused]] int64_t head_dim) {
  return {.blocks = static_cast<unsigned>(heads), .threads = 32};
}

// Order: stride 32 fused, tree_adjacent.
GDN_KERNEL void gated_norm(const GatedNorm& p);

}  // namespace gdn::inline GDN_MACHINE::kernels
