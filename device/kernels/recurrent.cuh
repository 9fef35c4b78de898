// Whole sequences of the recurrence, each from a slot of a pool of states: the token of
// delta_rule.cuh, one after the other, with the same bits. A block takes a sequence, a head and a
// slice of its columns; a thread keeps its part of the state in registers from token to token, so
// that a state is read once and written once a token whose state is kept.
#pragma once

#include <cstdint>

#include "device/kernels/delta_rule.cuh"
#include "device/kernels/strided.cuh"

namespace gdn::inline GDN_MACHINE::kernels {

// States in memory; strides in elements, whatever the layout.
struct StatePool {
  global<uint8_t> bytes;
  int64_t offset, slot, head, row, column;
  Storage storage;
};

// What a sequence starts from in place of a slot.
inline constexpr int64_t recurrent_zero_state = -1;
inline constexpr int64_t recurrent_zero_output = -2;  // nothing is computed, o is 0

struct RecurrentSequence {
  int64_t first_token, tokens;
  int64_t start;  // a slot, or one of the above
  int64_t index;  // among all sequences of the call, those without tokens as well
};

struct Recurrent {
  global<const float> q, k;  // [tokens][k_heads][kd]
  global<const float> v;     // [tokens][v_heads][vd]
  global<const float> g;     // [tokens][v_heads] or null
  global<const float> gk;    // [tokens][v_heads][kd] or null
  global<const float> beta;  // [tokens][v_heads]
  View o;                    // [tokens][v_heads][vd]
  float o_factor;            // before the store rounds
  StatePool state, snapshots;
  global<float> work;  // [sequences][v_heads][kd][vd] where a head has more rows than a block holds
  global<const RecurrentSequence> sequences;
  global<const int64_t> store;  // [tokens]: the slot that a token's state goes to, or -1
  int64_t snapshots_kept;       // of each sequence, the newest first
  int64_t sequences_of_call;
  int64_t k_heads, kd, v_heads, vd;
  int32_t head_map_tiled;
  int32_t g_is_linear;
  int32_t packed;  // states are f32 with whole aligned groups of four columns
};

inline LaunchShape recurrent_shape(int64_t sequences, int64_t v_heads, int64_t kd, int64_t vd,
                                   unsigned threads = 64) {
  return delta_rule_shape(sequences * v_heads, kd, vd, threads);
}

// Where a thread's part of the state begins: in a slot of a pool, or in working memory.
struct StatePlace {
  global<uint8_t> bytes;
  int64_t first, row, column;  // of its first row and column, and strides
  Storage storage;
};

struct RecurrentPart {
  RecurrentSequence sequence;
  DeltaRulePart of_head;  // its S is not used
  int64_t v_head;
  int64_t slice;   // of the head's columns
  int64_t column;  // its first
  StatePlace work;
};

GDN_DEVICE StatePlace place_in(const StatePool& pool, int64_t slot, const RecurrentPart& part) {
  return {
      .bytes = pool.bytes,
      .first = pool.offset + slot * pool.slot + part.v_head * pool.head + part.column * pool.column,
      .row = pool.row,
      .column = pool.column,
      .storage = pool.storage};
}

// `head` is among those of all sequences, one sequence's after the other's.
GDN_DEVICE RecurrentPart recurrent_part(const Recurrent& p, int head, int slice) {
  const int column_lanes = thread_count() / delta_rule_row_lanes;
  const int v_heads = static_cast<int>(p.v_heads);
  const int64_t which = head / v_heads;
  RecurrentPart part;
  part.sequence = p.sequences[which];
  part.v_head = head % v_heads;
  part.slice = slice;
  DeltaRulePart& of = part.of_head;
  of.vd = p.vd;
  of.kd = static_cast<int>(p.kd);
  of.head = static_cast<int>(part.v_head);
  of.row = thread_index() / column_lanes;
  of.column_of_slice = 4 * (thread_index() % column_lanes);
  of.columns_of_slice = 4 * column_lanes;
  part.column = part.slice * of.columns_of_slice + of.column_of_slice;
  of.columns = static_cast<int>(max(min(p.vd - part.column, int64_t{4}), int64_t{0}));
  part.work = {.bytes = as<uint8_t>(p.work),
               .first = (which * p.v_heads + part.v_head) * p.kd * p.vd + part.column,
               .row = p.vd,
               .column = 1,
               .storage = Storage::f32};
  return part;
}

GDN_DEVICE StatePlace start_of(const Recurrent& p, const RecurrentPart& part) {
  return place_in(p.state, max(part.sequence.start, int64_t{0}), part);
}

template <bool packed>
GDN_DEVICE Pack<float, 4> load_state(const StatePlace& at, int row, int columns) {
  const int64_t first = at.first + row * at.row;
  Pack<float, 4> values = {};
  if constexpr (packed) {
    if (columns > 0) values = load_streaming<4>(as<float>(at.bytes), first);
  } else {
    GDN_UNROLL
    for (int j = 0; j < 4; ++j) {
      if (j < columns) values[j] = load_stored(at.bytes, at.storage, first + j * at.column);
    }
  }
  return values;
}

template <bool packed>
GDN_DEVICE void store_state(const StatePlace& at, int row, int columns,
                            const Pack<float, 4>& values) {
  const int64_t first = at.first + row * at.row;
  if constexpr (packed) {
    if (columns > 0) store_streaming(as<float>(at.bytes), first, values);
  } else {
    GDN_UNROLL
    for (int j = 0; j < 4; ++j) {
      if (j < columns) store_stored(at.bytes, at.storage, first + j * at.column, values[j]);
    }
  }
}

// Rows from `first` on that this thread has; zeros where there are none, or where the state is.
template <bool packed>
GDN_DEVICE void load_state_rows(DeltaRuleRows& rows, const StatePlace& at, bool from_zero,
                                const DeltaRulePart& of, int first) {
  GDN_UNROLL
  for (int r = 0; r < delta_rule_rows_held; ++r) {
    const int row = first + of.row + r * delta_rule_row_lanes;
    rows.s[r] = {};
    if (row < of.kd && !from_zero) rows.s[r] = load_state<packed>(at, row, of.columns);
  }
}

template <bool packed>
GDN_DEVICE void store_rows(const DeltaRuleRows& rows, const StatePlace& at, const DeltaRulePart& of,
                           int first) {
  GDN_UNROLL
  for (int r = 0; r < delta_rule_rows_held; ++r) {
    const int row = first + of.row + r * delta_rule_row_lanes;
    if (row < of.kd) store_state<packed>(at, row, of.columns, rows.s[r]);
  }
}

// The state after token t of the sequence to wherever it is kept.
template <bool packed>
GDN_DEVICE void keep_rows(const Recurrent& p, const RecurrentPart& part, const DeltaRuleRows& rows,
                          int64_t t, int first) {
  const int64_t slot = p.store[part.sequence.first_token + t];
  if (slot >= 0) {
    store_rows<packed>(rows, place_in(p.state, slot, part), part.of_head, first);
  }
  const int64_t after = part.sequence.tokens - 1 - t;
  if (after >= p.snapshots_kept) return;
  const int64_t snapshot = after * p.sequences_of_call + part.sequence.index;
  store_rows<packed>(rows, place_in(p.snapshots, snapshot, part), part.of_head, first);
}

// The inputs of one token as the parts of delta_rule.cuh take them.
GDN_DEVICE DeltaRule token_of(const Recurrent& p, RecurrentPart& part, int64_t token) {
  const DeltaRule rule = {.q = p.q + token * p.k_heads * p.kd,
                          .k = p.k + token * p.k_heads * p.kd,
                          .v = p.v + token * p.v_heads * p.vd,
                          .g = p.g.present() ? p.g + token * p.v_heads : p.g,
                          .gk = p.gk.present() ? p.gk + token * p.v_heads * p.kd : p.gk,
                          .beta = p.beta + token * p.v_heads,
                          .S = {},
                          .o = {},
                          .k_heads = p.k_heads,
                          .kd = p.kd,
                          .v_heads = p.v_heads,
                          .vd = p.vd,
                          .head_map_tiled = p.head_map_tiled,
                          .g_is_linear = p.g_is_linear};
  const int64_t k_head =
      p.head_map_tiled != 0 ? part.v_head % p.k_heads : part.v_head / (p.v_heads / p.k_heads);
  part.of_head.k = rule.k + k_head * p.kd;
  part.of_head.q = rule.q + k_head * p.kd;
  return rule;
}

GDN_DEVICE void put_output(const Recurrent& p, const RecurrentPart& part, int64_t token,
                           int64_t column, float value) {
  const int64_t at = p.o.offset + token * p.o.s0 + part.v_head * p.o.s1 + column * p.o.s2;
  store_number(p.o, at, value);
}

// `held`: all rows are in registers, and stay there; else they are read again from working memory.
// The host has waited for whatever writes what is read here; only what is written waits, so that
// launches before have read it.
template <bool packed, bool held>
GDN_DEVICE void recurrent_of(const Recurrent& p, RecurrentPart& part, DeltaRuleRows& rows,
                             const shared<float>& decay) {
  const DeltaRulePart& of = part.of_head;
  const int columns = of.columns_of_slice;
  const shared<float> partial = dynamic_shared<float>();
  const shared<float> deltas = partial + delta_rule_row_lanes * columns;
  const int mine = of.row * columns + of.column_of_slice;
  // The first threads of the block add up a column each.
  const int adding_up = thread_index();
  const int64_t column = part.slice * columns + adding_up;
  const bool has_column = adding_up < columns && column < p.vd;
  const RecurrentSequence& s = part.sequence;
  const StatePlace start = start_of(p, part);
  for (int64_t t = 0; t < s.tokens; ++t) {
    const int64_t token = s.first_token + t;
    const DeltaRule rule = token_of(p, part, token);
    const auto load_rows_at = [&](int first) {
      if (t == 0) load_state_rows<packed>(rows, start, s.start < 0, of, first);
      if (t > 0) load_state_rows<false>(rows, part.work, false, of, first);
      load_keys(rows, of, first);
    };
    if (held) load_keys(rows, of, 0);
    const float beta = rule.beta[of.head];
    float v = 0;
    if (has_column) v = rule.v[part.v_head * p.vd + column];
    share_head_decay(decay, rule, of.head);
    barrier();

    Pack<float, 4> u = {};
    for (int first = 0; first < of.kd; first += delta_rule_rows_at_once) {
      if (!held) load_rows_at(first);
      decay_rows(rows, decay, rule, of, first);
      add_products(u, rows);
    }
    store(partial, mine, u);
    barrier();
    if (adding_up < columns) {
      const float of_column = column_sum(partial, adding_up, columns);
      deltas[adding_up] = beta * (v - of_column);
    }
    barrier();
    const Pack<float, 4> d = load<4>(deltas, of.column_of_slice);
    Pack<float, 4> o = {};
    if (t == 0) wait_for_launches_before();
    for (int first = 0; first < of.kd; first += delta_rule_rows_at_once) {
      if (!held) {
        load_rows_at(first);
        decay_rows(rows, decay, rule, of, first);
      }
      update_rows(rows, d, o);
      keep_rows<packed>(p, part, rows, t, first);
      if (!held) store_rows<false>(rows, part.work, of, first);
    }
    store(partial, mine, o);
    barrier();
    if (has_column) {
      put_output(p, part, token, column, column_sum(partial, adding_up, columns) * p.o_factor);
    }
  }
}

GDN_DEVICE void zero_output(const Recurrent& p, const RecurrentPart& part) {
  const int columns = part.of_head.columns_of_slice;
  const int64_t column = part.slice * columns + thread_index();
  wait_for_launches_before();
  if (thread_index() >= columns || column >= p.vd) return;
  for (int64_t t = 0; t < part.sequence.tokens; ++t) {
    put_output(p, part, part.sequence.first_token + t, column, 0);
  }
}

// Order of u and o: stride 16 fused, tree_adjacent. Decay first; S + k d^T is fused.
template <bool packed, bool held>
GDN_DEVICE void recurrent_block(const Recurrent& p) {
  GDN_SHARED(float, decay, delta_rule_rows_at_once + 1);
  RecurrentPart part = recurrent_part(p, block_index(), block_index_y());
  if (part.sequence.start == recurrent_zero_output) return zero_output(p, part);
  DeltaRuleRows rows;
  if (held) {
    load_state_rows<packed>(rows, start_of(p, part), part.sequence.start < 0, part.of_head, 0);
  }
  recurrent_of<packed, held>(p, part, rows, decay);
}

GDN_KERNEL void recurrent(const Recurrent& p) {
  if (p.kd <= delta_rule_rows_at_once) return recurrent_block<false, true>(p);
  if (p.packed != 0) return recurrent_block<true, false>(p);
  recurrent_block<false, false>(p);
}

}  // namespace gdn::inline GDN_MACHINE::kernels

namespace gdn::inline GDN_MACHINE {

// A head's rows are held in some 150 registers a thread.
template <>
inline constexpr int block_threads_max<kernels::recurrent> = 256;
template <>
inline constexpr bool begins_early<kernels::recurrent> = true;
template <>
inline constexpr bool next_begins_with_it<kernels::recurrent> = true;

}  // namespace gdn::inline GDN_MACHINE
