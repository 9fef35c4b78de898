// One token, per v-head, S [kd][vd]: S <- exp(g) S; u = S^T k; d = beta (v - u); S <- S + k d^T;
// o = S^T q with the updated S. A block takes a head and a slice of its columns: a thread four
// neighbouring columns of every sixteenth row, which it reads and writes once.
#pragma once

#include <cstdint>

#include "device/kernels/platform.h"

namespace gdn::inline GDN_MACHINE::kernels {

// S aligned to 16 bytes; any kd and vd from 1 on. g, gk or both.
struct DeltaRule {
  global<const float> q, k;  // [k_heads][kd]
  global<const float> v;     // [v_heads][vd]
  global<const float> g;     // [v_heads] or null: log decay of a head
  global<const float> gk;    // [v_heads][kd] or null: log decay of a row
  global<const float> beta;  // [v_heads]
  global<float> S;           // [v_heads][kd][vd], in and out
  global<float> o;           // [v_heads][vd]
  int64_t k_heads, kd;
  int64_t v_heads, vd;
  int32_t head_map_tiled;  // 0: v-head i has k-head i / (v_heads / k_heads); 1: i % k_heads
  int32_t g_is_linear;     // 1: g holds the decay itself
};

inline constexpr int delta_rule_row_lanes = 16;

// Threads: 32, 64, 128, 256, 512 or 1024; the bits do not depend on it. A slice has a quarter as
// many columns.
inline LaunchShape delta_rule_shape(int64_t v_heads, [[maybe_unused]] int64_t kd, int64_t vd,
                                    unsigned threads = 128) {
  const int64_t columns = threads / 4;
  return {.blocks = static_cast<unsigned>(v_heads),
          .blocks_y = static_cast<unsigned>((vd + columns - 1) / columns),
          .threads = threads,
          .shared_bytes = threads * 16};
}

// Order of u and o: stride 16 fused, tree_adjacent.
GDN_KERNEL void delta_rule(const DeltaRule& p);

}  // namespace gdn::inline GDN_MACHINE::kernels
