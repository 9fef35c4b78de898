// The delta rule: one token judged on what the engine itself held (local), and whole sequences
// with a running bound (global), token by token or in chunks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "reference/bound.h"
#include "reference/contract.h"
#include "reference/dialect.h"
#include "reference/shape.h"

namespace gdn {

// One token's inputs of the recurrence, all of one layer. q and k are as the recurrence uses them:
// normalised and, where the dialect scales q, scaled. A NaN in v makes its column of S and o NaN,
// one in k, g, gk or beta its head, one in q the head's output; an infinity makes them NaN or
// infinite, which one is free; what may overflow on the way is undecided.
struct TokenInputs {
  Bounded q, k;  // [kh][kd]
  Bounded v;     // [vh][vd]
  Bounded g;     // [vh] log decay (or linear alpha, by the dialect); empty where there is none
  Bounded gk;    // [vh][kd] log decay per key channel, or [vh] a second scalar; empty: none
  Bounded beta;  // [vh]
};

// The state after one token from the engine's own state before it, [vh][kd][vd].
// Formula, per v-head i with k-head map(i): S <- exp(g) S; u = S^T k; d = beta (v - u);
// S <- S + k d^T.
Bounded delta_rule_state(const std::vector<float>& state_before, const TokenInputs& in,
                         const Shape& shape, const Dialect& dialect, const Contract& contract);

// The output from the state that the engine holds after the token: o = S^T q (scaled here where
// the dialect scales the output). Nothing accumulates over time. [vh][vd].
Bounded delta_rule_output(const std::vector<float>& state_after, const Bounded& q,
                          const Shape& shape, const Dialect& dialect, const Contract& contract);

// Exact state and the error that an engine can have accumulated, over a sequence.
class RunningRecurrence {
 public:
  // initial_state: [vh][kd][vd] exact, or empty for zeros. The state's storage format and the
  // decay's form come from dialect and contract.
  RunningRecurrence(const Shape& shape, const Dialect& dialect, const Contract& contract,
                    const std::vector<float>& initial_state = {});
  ~RunningRecurrence();
  RunningRecurrence(const RunningRecurrence&) = delete;
  RunningRecurrence& operator=(const RunningRecurrence&) = delete;

  // One call of an engine: the output of each token, [vh][vd] each. A call of one token, or any
  // call where the contract says token_loop, is judged as a loop; a longer one of a chunked
  // contract by the chunked bound, in chunks of contract.chunk_tokens. Chunks with a decay per
  // channel, a linear gate or a gate of -infinity are undecided.
  std::vector<Bounded> call(const std::vector<TokenInputs>& tokens);
  Bounded state() const;  // [vh][kd][vd] after the last call

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gdn
