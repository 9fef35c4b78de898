// delta_rule and gated_norm of a head in one launch, where a block takes all columns of a head, in
// groups of four, and holds all its rows: it norms the o that it has.
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
  LaunchShape shape = delta_rule_shape(v_heads, kd, vd, threads);
  shape.shared_bytes += 2 * threads;  // w and silu(z) of each column
  return shape;
}

// Of a head's columns: o while it is normed, in place of d; then w and silu(z).
struct NormedColumns {
  shared<float> o, w, gates;
};

GDN_DEVICE NormedColumns normed_columns(int columns) {
  const shared<float> o = delta_rule_columns(columns);
  return {o, o + columns, o + 2 * columns};
}

// Of a head whose o stands in `partial`. `gate_is_due`: the thread has a z whose gate is not there.
GDN_DEVICE void norm_columns(const DeltaRuleNorm& p, int head, const shared<float>& partial,
                             int columns, bool gate_is_due) {
  const int vd = static_cast<int>(p.norm.head_dim);
  const int column = thread_index();
  const NormedColumns of = normed_columns(columns);
  if (column < columns) of.o[column] = column_sum(partial, column, columns);
  if (gate_is_due) of.gates[column - columns] = silu_f32(of.gates[column - columns]);
  barrier();
  if (column / warp_size * warp_size >= vd) return;
  const float factor = gated_norm_factor(p.norm, warp_tree_sum(lane_sum_of_squares(of.o, vd)));
  if (column >= vd) return;
  const int64_t at = head * p.norm.head_dim + column;
  const float o = of.o[column];
  const float quotient = o * factor;
  p.norm.y[at] = quotient * of.w[column] * of.gates[column];
  p.rule.o[at] = o;
}

GDN_KERNEL void delta_rule_norm(const DeltaRuleNorm& p) {
  GDN_SHARED(float, decay, delta_rule_rows_at_once + 1);
  const DeltaRulePart part = delta_rule_part(p.rule);
  const int columns = part.columns_of_slice;
  const int vd = static_cast<int>(p.norm.head_dim);
  const NormedColumns of = normed_columns(columns);
  const int column = thread_index();
  const int gated = column - columns;  // the threads behind those that add up gate
  const bool gates = gated >= 0 && gated < vd;
  bool gate_is_due = false;
  float w = 0;
  if (column < vd) w = p.norm.w[column];
  const auto begin = [&] {
    if (column < vd) of.w[column] = w;
    if (gates) of.gates[gated] = p.norm.z[part.head * p.norm.head_dim + gated];
  };
  // While the state is in registers, there are few for anything else.
  const auto gate = [&] {
    if (!gates) return;
    const NearSilu near = near_silu(of.gates[gated]);
    gate_is_due = !near.is_decided;
    if (near.is_decided) of.gates[gated] = near.silu;
  };
  const auto norm = [&](const shared<float>& partial) {
    norm_columns(p, part.head, partial, columns, gate_is_due);
  };
  delta_rule_of<true, true>(p.rule, part, decay, begin, gate, norm);
}

}  // namespace gdn::inline GDN_MACHINE::kernels

namespace gdn::inline GDN_MACHINE {

template <>
inline constexpr int block_threads_max<kernels::delta_rule_norm> = 512;
template <>
inline constexpr bool begins_early<kernels::delta_rule_norm> = true;

}  // namespace gdn::inline GDN_MACHINE
