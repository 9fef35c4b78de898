// A whole call of the slot-addressed recurrence: which sequences it has, which slots they start
// from and write, and what that gives. The rules stand above gdn_recurrent_args in device/gdn.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reference/case.h"
#include "reference/recurrence.h"

namespace gdn {

struct BatchSequence {
  int64_t index = 0;        // among all sequences of the call
  int64_t first_token = 0;  // of the call
  int64_t tokens = 0;
  int64_t start_slot = 0;
  bool from_zero = false;
  bool is_padding = false;
};

// What becomes of a token's o.
enum class OutputKind : uint8_t { computed, zero, untouched, meaningless };

struct RecurrentBatch {
  std::string why_refused;  // empty: it is a right call
  int64_t sequence_count = 0;
  bool is_coded = false;  // else one sequence of all tokens
  bool has_slots = false;
  Dialect::StateWrites writes = Dialect::StateWrites::final_only;
  bool null_slot_is_used = false;        // what slot 0 holds after the call means nothing
  int64_t snapshots = 0;                 // of each sequence
  std::vector<BatchSequence> sequences;  // those with tokens
  std::vector<int64_t> store;            // of each token: the slot its state goes to; -1: none
  std::vector<OutputKind> output;        // of each token
  std::vector<int64_t> coded;            // the sequences' array, as the dialect codes it
};

// Of a call of kind recurrent in a valid case.
RecurrentBatch batch_of(const Case& c, const Call& call);

struct RecurrentExpectation {
  Bounded o;          // [tokens][vh][vd]; 0 where it is untouched or means nothing
  Bounded S;          // [states][vh][kd][vd] of the pool; the null slot is 0 once it was used
  Bounded snapshots;  // [snapshots][sequences] of such states; 0 where there is none
};

// Of a right call: the tokens' inputs as the recurrence uses them, and the states as the pool holds
// them before the call. Each sequence is judged by the running bound from the state that it starts
// from; the state is not rounded between the tokens of a call, whatever stores it.
RecurrentExpectation expect_call(const Case& c, const RecurrentBatch& batch,
                                 const std::vector<TokenInputs>& tokens,
                                 const std::vector<float>& pool, const Contract& contract);

}  // namespace gdn
