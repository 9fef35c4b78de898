// delta_rule and gated_norm of a head in one launch, where a block takes all columns of a head, in
// groups of four, and holds all its rows: it norms the o that it has written.
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

// Whether the heads are such; else the two are launched one after the other.
inline bool is_delta_rule_norm(int64_t kd, int64_t vd) {
  constexpr int64_t columns_max = 4 * 512 / delta_rule_row_lanes;  // of as many threads as fit
  return kd <= delta_rule_rows_at_once && vd <= columns_max && vd % 4 == 0;
}

inline LaunchShape delta_rule_norm_shape(int64_t v_heads, int64_t kd, int64_t vd) {
  unsigned threads = 32;
  while (4 * static_cast<int64_t>(threads) / delta_rule_row_lanes < vd) threads *= 2;
  return delta_rule_shape(v_heads, kd, vd, threads);
}

GDN_KERNEL void delta_rule_norm(const DeltaRuleNorm& p) {
  GDN_SHARED(float, decay, delta_rule_rows_at_once + 1);
  const DeltaRulePart part = delta_rule_part(p.rule);
  GatedNormInputs inputs = {};
  delta_rule_of<true, true>(p.rule, part, decay,
                            [&] { inputs = gated_norm_inputs(p.norm, part.head, thread_index()); });
  barrier();  // o is there
  gated_norm_of_head(p.norm, part.head, delta_rule_columns(part.columns_of_slice), inputs);
}

}  // namespace gdn::inline GDN_MACHINE::kernels

namespace gdn::inline GDN_MACHINE {

template <>
inline constexpr int block_threads_max<kernels::delta_rule_norm> = 512;
template <>
inline constexpr bool begins_early<kernels::delta_rule_norm> = true;

}  // namespace gdn::inline GDN_MACHINE
