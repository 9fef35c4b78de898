// One token, per v-head, S [kd][vd]: S <- exp(g) S; u = S^T k; d = beta (v - u); S <- S + k d^T;
// o = S^T q with the updated S. A block takes a head and a slice of its columns: a thread four
// neighbouring columns of every sixteenth row, which it reads and writes once.
#pragma once

#include <cstdint>

#include "device/kernels/elementary.cuh"
#include "device/kernels/platform.h"
#include "device/kernels/tree_sum.cuh"

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

// Threads: 32, 64, 128 or 256; the bits do not depend on it. A slice has a quarter as many columns.
inline LaunchShape delta_rule_shape(int64_t v_heads, [[maybe_unused]] int64_t kd, int64_t vd,
                                    unsigned threads = 128) {
  const int64_t columns = threads / 4;
  return {.blocks = static_cast<unsigned>(v_heads),
          .blocks_y = static_cast<unsigned>((vd + columns - 1) / columns),
          .threads = threads,
          .shared_bytes = threads * 17};
}

// Rows that a thread holds at once; a head of more rows than 16 times this is read twice.
inline constexpr int delta_rule_rows_held = 8;
inline constexpr int delta_rule_rows_at_once = delta_rule_row_lanes * delta_rule_rows_held;

// What a thread takes: of one head columns [0, columns) of every 16th row.
struct DeltaRulePart {
  global<float> S;           // at row 0 and its first column
  global<const float> k, q;  // of the head
  int64_t vd;
  int kd;
  int head;
  int row;               // its first
  int columns;           // 0 to 4
  int column_of_slice;   // its first
  int columns_of_slice;  // of the whole block
};

GDN_DEVICE DeltaRulePart delta_rule_part(const DeltaRule& p) {
  const int column_lanes = thread_count() / delta_rule_row_lanes;
  const int k_heads = static_cast<int>(p.k_heads);
  const int v_heads = static_cast<int>(p.v_heads);
  DeltaRulePart part;
  part.vd = p.vd;
  part.kd = static_cast<int>(p.kd);
  part.head = block_index();
  part.row = thread_index() / column_lanes;
  part.column_of_slice = 4 * (thread_index() % column_lanes);
  part.columns_of_slice = 4 * column_lanes;
  const int column = block_index_y() * part.columns_of_slice + part.column_of_slice;
  part.columns = max(min(static_cast<int>(p.vd) - column, 4), 0);
  const int k_head = p.head_map_tiled != 0 ? part.head % k_heads : part.head / (v_heads / k_heads);
  part.k = p.k + k_head * p.kd;
  part.q = p.q + k_head * p.kd;
  part.S = p.S + (part.head * p.kd * p.vd + column);
  return part;
}

// Some rows of a thread, in registers.
struct DeltaRuleRows {
  Pack<float, 4> s[delta_rule_rows_held];
  float k[delta_rule_rows_held];
  float q[delta_rule_rows_held];
};

// `packed`: rows are aligned to 16 bytes, and a thread has four columns or none.
template <bool packed>
GDN_DEVICE Pack<float, 4> load_columns(const DeltaRulePart& part, int row) {
  const global<float> S = part.S + row * part.vd;
  if constexpr (packed) {
    return part.columns > 0 ? load_streaming<4>(S, 0) : Pack<float, 4>{};
  } else {
    Pack<float, 4> values = {};
    GDN_UNROLL
    for (int j = 0; j < 4; ++j) {
      if (j < part.columns) values[j] = S[j];
    }
    return values;
  }
}

template <bool packed>
GDN_DEVICE void store_columns(const DeltaRulePart& part, int row, const Pack<float, 4>& values) {
  const global<float> S = part.S + row * part.vd;
  if constexpr (packed) {
    if (part.columns > 0) store_streaming(S, 0, values);
  } else {
    GDN_UNROLL
    for (int j = 0; j < 4; ++j) {
      if (j < part.columns) S[j] = values[j];
    }
  }
}

// Rows that do not exist are zeros, of S and in k and q.
template <bool packed>
GDN_DEVICE void load_state(DeltaRuleRows& rows, const DeltaRulePart& part, int first) {
  GDN_UNROLL
  for (int r = 0; r < delta_rule_rows_held; ++r) {
    const int row = first + part.row + r * delta_rule_row_lanes;
    rows.s[r] = {};
    if (row >= part.kd) continue;
    rows.s[r] = load_columns<packed>(part, row);
  }
}

GDN_DEVICE void load_keys(DeltaRuleRows& rows, const DeltaRulePart& part, int first) {
  GDN_UNROLL
  for (int r = 0; r < delta_rule_rows_held; ++r) {
    const int row = first + part.row + r * delta_rule_row_lanes;
    const bool is_row = row < part.kd;
    rows.k[r] = is_row ? part.k[row] : 0.0F;
    rows.q[r] = is_row ? part.q[row] : 0.0F;
  }
}

template <bool packed>
GDN_DEVICE void load_rows(DeltaRuleRows& rows, const DeltaRulePart& part, int first) {
  load_state<packed>(rows, part, first);
  load_keys(rows, part, first);
}

// What S is multiplied by: of the head in the last element of `decay`, and where rows have a decay
// of their own, of row first + i in element i.
GDN_DEVICE void share_head_decay(const shared<float>& decay, const DeltaRule& p, int head) {
  if (thread_index() != 0) return;
  float alpha = 1;
  if (p.g.present()) {
    const float g = p.g[head];
    alpha = p.g_is_linear != 0 ? g : exp_f32(g);
  }
  decay[delta_rule_rows_at_once] = alpha;
}

GDN_DEVICE void share_row_decays(const shared<float>& decay, const DeltaRule& p,
                                 const DeltaRulePart& part, int first) {
  barrier();
  for (int i = thread_index(); i < delta_rule_rows_at_once; i += thread_count()) {
    float alpha = 1;
    if (first + i < part.kd) alpha = exp_f32(p.gk[part.head * p.kd + first + i]);
    decay[i] = alpha;
  }
  barrier();
}

GDN_DEVICE void decay_rows(DeltaRuleRows& rows, const shared<float>& decay, const DeltaRule& p,
                           const DeltaRulePart& part, int first) {
  const float of_head = decay[delta_rule_rows_at_once];
  const bool rows_have_own = p.gk.present();
  if (rows_have_own) share_row_decays(decay, p, part, first);
  GDN_UNROLL
  for (int r = 0; r < delta_rule_rows_held; ++r) {
    GDN_UNROLL
    for (int j = 0; j < 4; ++j) rows.s[r][j] *= of_head;
    if (!rows_have_own) continue;
    const float of_row = decay[part.row + r * delta_rule_row_lanes];
    GDN_UNROLL
    for (int j = 0; j < 4; ++j) rows.s[r][j] *= of_row;
  }
}

GDN_DEVICE void add_products(Pack<float, 4>& u, const DeltaRuleRows& rows) {
  GDN_UNROLL
  for (int r = 0; r < delta_rule_rows_held; ++r) {
    GDN_UNROLL
    for (int j = 0; j < 4; ++j) u[j] = fused_multiply_add(rows.s[r][j], rows.k[r], u[j]);
  }
}

// S <- S + k d^T; adds S^T q to o.
GDN_DEVICE void update_rows(DeltaRuleRows& rows, const Pack<float, 4>& d, Pack<float, 4>& o) {
  GDN_UNROLL
  for (int r = 0; r < delta_rule_rows_held; ++r) {
    GDN_UNROLL
    for (int j = 0; j < 4; ++j) {
      rows.s[r][j] = fused_multiply_add(rows.k[r], d[j], rows.s[r][j]);
      o[j] = fused_multiply_add(rows.s[r][j], rows.q[r], o[j]);
    }
  }
}

template <bool packed>
GDN_DEVICE void store_state(const DeltaRuleRows& rows, const DeltaRulePart& part, int first) {
  GDN_UNROLL
  for (int r = 0; r < delta_rule_rows_held; ++r) {
    const int row = first + part.row + r * delta_rule_row_lanes;
    if (row < part.kd) store_columns<packed>(part, row, rows.s[r]);
  }
}

// What the row lanes have of one column, [16][columns], as a tree of neighbours.
GDN_DEVICE float column_sum(const shared<float>& partial, int column, int columns) {
  float sums[delta_rule_row_lanes];
  GDN_UNROLL
  for (int i = 0; i < delta_rule_row_lanes; ++i) sums[i] = partial[i * columns + column];
  return tree_of(sums);
}

// A block's shared memory: what the row lanes have of each column; then a number a column, d.
GDN_DEVICE shared<float> delta_rule_columns(int columns) {
  return dynamic_shared<float>() + delta_rule_row_lanes * columns;
}

// `held`: a head's rows are all in registers; else they are read twice. `begin` is called once what
// the launch before wrote is there, `aside` by the threads that have no column to add up while the
// others do, and `end` once `partial` has all of o. What is held of S is stored last: nothing waits
// for it.
template <bool packed, bool held, class Begin, class Aside, class End>
GDN_DEVICE void delta_rule_of(const DeltaRule& p, const DeltaRulePart& part,
                              const shared<float>& decay, const Begin& begin, const Aside& aside,
                              const End& end) {
  const int columns = part.columns_of_slice;
  const shared<float> partial = dynamic_shared<float>();
  const shared<float> deltas = delta_rule_columns(columns);
  const int mine = part.row * columns + part.column_of_slice;
  const int rows_end = held ? 1 : part.kd;

  // Launches before do not write S, so it is on its way while they end.
  DeltaRuleRows rows;
  load_state<packed>(rows, part, 0);
  wait_for_launches_before();
  load_keys(rows, part, 0);
  begin();
  // The first threads of the block add up a column each.
  const int adding_up = thread_index();
  const int64_t column = static_cast<int64_t>(block_index_y()) * columns + adding_up;
  const float beta = p.beta[part.head];
  float v = 0;
  if (adding_up < columns && column < p.vd) v = p.v[part.head * p.vd + column];
  share_head_decay(decay, p, part.head);
  barrier();

  Pack<float, 4> u = {};
  for (int first = 0; first < rows_end; first += delta_rule_rows_at_once) {
    if (!held && first > 0) load_rows<packed>(rows, part, first);
    decay_rows(rows, decay, p, part, first);
    add_products(u, rows);
  }
  store(partial, mine, u);
  barrier();
  if (adding_up < columns) {
    const float of_column = column_sum(partial, adding_up, columns);
    deltas[adding_up] = beta * (v - of_column);
  } else {
    aside();
  }
  barrier();
  const Pack<float, 4> d = load<4>(deltas, part.column_of_slice);
  Pack<float, 4> o = {};
  for (int first = 0; first < rows_end; first += delta_rule_rows_at_once) {
    if (!held) {
      load_rows<packed>(rows, part, first);
      decay_rows(rows, decay, p, part, first);
    }
    update_rows(rows, d, o);
    if (!held) store_state<packed>(rows, part, first);
  }
  store(partial, mine, o);
  barrier();
  end(partial);
  if (held) store_state<packed>(rows, part, 0);
}

template <bool packed, bool held>
GDN_DEVICE void delta_rule_of_slice(const DeltaRule& p, const shared<float>& decay) {
  const DeltaRulePart part = delta_rule_part(p);
  const auto end = [&](const shared<float>& partial) {
    const int columns = part.columns_of_slice;
    const int64_t column = static_cast<int64_t>(block_index_y()) * columns + thread_index();
    if (thread_index() >= columns || column >= p.vd) return;
    p.o[part.head * p.vd + column] = column_sum(partial, thread_index(), columns);
  };
  const auto nothing = [] {};
  delta_rule_of<packed, held>(p, part, decay, nothing, nothing, end);
}

// Order of u and o: stride 16 fused, tree_adjacent. Decay first; S + k d^T is fused.
GDN_KERNEL void delta_rule(const DeltaRule& p) {
  GDN_SHARED(float, decay, delta_rule_rows_at_once + 1);
  const bool packed = p.vd % 4 == 0;
  if (p.kd <= delta_rule_rows_at_once) {
    return packed ? delta_rule_of_slice<true, true>(p, decay)
                  : delta_rule_of_slice<false, true>(p, decay);
  }
  packed ? delta_rule_of_slice<true, false>(p, decay) : delta_rule_of_slice<false, false>(p, decay);
}

}  // namespace gdn::inline GDN_MACHINE::kernels

namespace gdn::inline GDN_MACHINE {

// A head's rows are held in some 120 registers a thread.
template <>
inline constexpr int block_threads_max<kernels::delta_rule> = 256;
template <>
inline constexpr bool begins_early<kernels::delta_rule> = true;

}  // namespace gdn::inline GDN_MACHINE
