// recurrent, with the same bits, for float32 states in whole aligned groups of four columns and
// heads whose rows a block can hold. A block goes from one slice of a head to another and asks for
// the states of the next while it is at one.
#pragma once

#include <cstdint>

#include "device/kernels/recurrent.cuh"

namespace gdn::inline GDN_MACHINE::kernels {

// Its `packed` and `work` are not used.
struct RecurrentPacked {
  Recurrent of;
  int32_t heads;   // of all sequences
  int32_t slices;  // of each; so many parts in all are below 2^31
};

// As many columns as there are, up to 64, of which a row is 256 bytes in one place.
inline unsigned recurrent_packed_threads(int64_t vd) {
  unsigned threads = 64;
  while (threads < 256 && threads / 4 < vd) threads *= 2;
  return threads;
}

// Whether the call may be launched so; else `recurrent` takes it.
inline bool is_recurrent_packed(const Recurrent& of, int64_t heads, unsigned threads) {
  const int64_t slices = delta_rule_shape(heads, of.kd, of.vd, threads).blocks_y;
  return of.packed != 0 && of.kd <= delta_rule_rows_at_once && heads <= 0x7fffffff / slices;
}

inline RecurrentPacked recurrent_packed_params(const Recurrent& of, int64_t heads,
                                               unsigned threads) {
  const LaunchShape parts = delta_rule_shape(heads, of.kd, of.vd, threads);
  return {of, static_cast<int32_t>(heads), static_cast<int32_t>(parts.blocks_y)};
}

// Threads: as of delta_rule. Blocks: any.
inline LaunchShape recurrent_packed_shape(int64_t heads, int64_t kd, int64_t vd, unsigned threads) {
  LaunchShape shape = delta_rule_shape(heads, kd, vd, threads);
  const unsigned blocks_at_once = 132 * (512 / threads);  // by their registers, on an H200
  const unsigned parts = shape.blocks * shape.blocks_y;
  shape.blocks = parts < blocks_at_once ? parts : blocks_at_once;
  shape.blocks_y = 1;
  shape.shared_bytes += threads * delta_rule_rows_held * 16;
  return shape;
}

GDN_DEVICE RecurrentPart recurrent_packed_part(const RecurrentPacked& p, int64_t index) {
  const auto slices = static_cast<uint32_t>(p.slices);
  const auto part = static_cast<uint32_t>(index);
  return recurrent_part(p.of, static_cast<int>(part / slices), static_cast<int>(part % slices));
}

// A thread asks for its own rows, and takes them itself: row r of thread i is pack i of r.
GDN_DEVICE void ask_for_rows(const shared<float>& stage, const RecurrentPacked& p,
                             const RecurrentPart& part) {
  const StatePlace at = start_of(p.of, part);
  const DeltaRulePart& of = part.of_head;
  const bool is_read = part.sequence.start >= 0 && of.columns > 0;
  GDN_UNROLL
  for (int r = 0; r < delta_rule_rows_held; ++r) {
    const int row = of.row + r * delta_rule_row_lanes;
    if (!is_read || row >= of.kd) continue;
    const global<const float> state = as<const float>(at.bytes);
    copy_async<4>(stage, 4 * (r * thread_count() + thread_index()), state, at.first + row * at.row);
  }
}

GDN_DEVICE void take_rows(DeltaRuleRows& rows, const shared<float>& stage,
                          const RecurrentPart& part) {
  const DeltaRulePart& of = part.of_head;
  const bool is_read = part.sequence.start >= 0 && of.columns > 0;
  GDN_UNROLL
  for (int r = 0; r < delta_rule_rows_held; ++r) {
    const int row = of.row + r * delta_rule_row_lanes;
    rows.s[r] = {};
    if (is_read && row < of.kd) {
      rows.s[r] = load<4>(stage, 4 * (r * thread_count() + thread_index()));
    }
  }
}

GDN_KERNEL void recurrent_packed(const RecurrentPacked& p) {
  GDN_SHARED(float, decay, delta_rule_rows_at_once + 1);
  const shared<float> stage = dynamic_shared<float>() + thread_count() * 17 / 4;
  const int64_t parts = static_cast<int64_t>(p.heads) * p.slices;
  RecurrentPart part = recurrent_packed_part(p, block_index());
  DeltaRuleRows rows;
  load_state_rows<true>(rows, start_of(p.of, part), part.sequence.start < 0, part.of_head, 0);
  for (int64_t index = block_index(); index < parts; index += block_count()) {
    const int64_t next_index = index + block_count();
    RecurrentPart next = part;
    if (next_index < parts) {
      next = recurrent_packed_part(p, next_index);
      ask_for_rows(stage, p, next);
      close_copies();
    }
    if (part.sequence.start == recurrent_zero_output) {
      zero_output(p.of, part);
    } else {
      recurrent_of<true, true>(p.of, part, rows, decay);
    }
    wait_for_copies<0>();
    part = next;
    if (next_index < parts) take_rows(rows, stage, part);
  }
}

}  // namespace gdn::inline GDN_MACHINE::kernels

namespace gdn::inline GDN_MACHINE {

// A head's rows are held in some 120 registers a thread.
template <>
inline constexpr int block_threads_max<kernels::recurrent_packed> = 512;
template <>
inline constexpr bool begins_early<kernels::recurrent_packed> = true;
template <>
inline constexpr bool next_begins_with_it<kernels::recurrent_packed> = true;

}  // namespace gdn::inline GDN_MACHINE
