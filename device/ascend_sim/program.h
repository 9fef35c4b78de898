// What the operator's program is made of beside its instructions: the waits that order them, and
// the choices of length and place in which programs of this kind go wrong. Any of them can be had
// in another way; right_program is how the operator is meant.
#pragma once

#include <bitset>
#include <cstdint>

#include "device/ascend_sim/queues.h"

namespace gdn::ascend {

// Each wait and each barrier of the program, by what it makes sure of.
enum class Order : uint8_t {
  inputs_landed,       // vector after copy_in: q, k, v, beta and gates of the sequence
  inputs_consumed,     // copy_in after vector: nobody computes with those of the one before
  gates_read,          // copy_in after scalar: its gates and betas have been read
  inputs_widened,      // vector after vector: q is float32 before it is scaled
  gates_computed,      // scalar after vector: beta is widened, exp(g) is there
  state_landed,        // vector after copy_in: the tile of state
  state_consumed,      // copy_in after vector: its slot has been widened
  prefetched_first,    // copy_out after copy_in: the next tile is read before this one is stored
  token_before_ended,  // vector after vector: the state of the token before has been used
  state_decayed,       // vector after vector: by the head's decay, before the channels'
  channels_decayed,    // vector after vector: by the channels' decay, before u
  key_sums_there,      // vector after vector: u before the error
  errors_there,        // vector after vector: the error before the rank-one addition
  state_updated,       // vector after vector: the new state before o, and before it is rounded
  output_sums_there,   // vector after vector: o before it is rounded
  state_rounded,       // copy_out after vector: the state that is stored
  output_rounded,      // copy_out after vector: the output that is stored
  state_slot_free,     // vector after copy_out: the slot that the state is rounded into
  output_slot_free,    // vector after copy_out: the slot that the output is rounded into
  stores_in_turn,      // copy_out after copy_out: rows behind overwrite the padding of a store
};
inline constexpr size_t order_count = 20;

struct Program {
  std::bitset<order_count> left_out = {};
  // Rows that a copy of results moves: made while a tile of `made` rows was computed, issued while
  // one of `now` rows is.
  int64_t (*copied_rows)(int64_t made, int64_t now);
  // Rows that a tile of `own` rows is computed with, where the next has `next`.
  int64_t (*computed_rows)(int64_t own, int64_t next);
  // Keys that a sum takes, of rows padded to `padded_kd`.
  int64_t (*summed_lanes)(int64_t kd, int64_t padded_kd);
  // The first value of a tile.
  int64_t (*first_value)(int64_t tile, int64_t v_step);
  // Where the gate of a head stands among those of a sequence.
  int64_t (*gate_index)(int64_t token, int64_t head, int64_t v_heads, int64_t padded_heads);
  // Is q scaled before this tile?
  bool (*scales_q)(int64_t tile);
  // Are results that wait copied at the end of a tile?
  bool (*flushes)(int64_t tile, int64_t tiles);
  // The index of the slot that a sequence starts from, and of that which a token is stored to.
  int64_t (*start_index)(int64_t first_token, int64_t accepted);
  int64_t (*store_index)(int64_t first_token, int64_t token);
  // Bytes between rows of output, and between states, in global memory.
  int64_t (*output_pitch)(int64_t row_bytes);
  int64_t (*state_pitch)(int64_t state_bytes);

  bool keeps(Order order) const { return !left_out[static_cast<size_t>(order)]; }
};
extern const Program right_program;

}  // namespace gdn::ascend
