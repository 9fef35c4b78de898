// delta_rule and gated_norm of a head in one launch, where a block takes all columns of a head: it
// norms the o that it has written.
#pragma once

#include <cstdint>

#include "device/kernels/delta_rule.cuh"
#include "device/kernels/gated_norm.cuh"
#include "device/kernels/platform.h"

namespace gdn::inline GDN_MACHINE::kernels {

struct DeltaRuleNorm {
  DeltaRule rule;
  GatedNorm norm;  // of rule.o
};

// Four columns a thread and 16 row lanes: the columns of a head that a block can have at most.
inline constexpr int64_t delta_rule_norm_columns_max = 128;

inline LaunchShape delta_rule_norm_shape(int64_t v_heads, int64_t kd, int64_t vd) {
  unsigned threads = 32;
  while (4 * static_cast<int64_t>(threads) / delta_rule_row_lanes < vd) threads *= 2;
  return delta_rule_shape(v_heads, kd, vd, threads);
}

GDN_KERNEL void delta_rule_norm(const DeltaRuleNorm& p) {
  delta_rule_of_slice(p.rule);
  barrier();  // o is there
  gated_norm_of_head(p.norm, block_index());
}

}  // namespace gdn::inline GDN_MACHINE::kernels

namespace gdn::inline GDN_MACHINE {

template <>
inline constexpr int block_threads_max<kernels::delta_rule_norm> = 512;
template <>
inline constexpr bool begins_early<kernels::delta_rule_norm> = true;

}  // namespace gdn::inline GDN_MACHINE
