// Calls of the recurrence on a pool of states, made by hand, and the judgement of any such calls.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "invariants/harness/lab.h"
#include "reference/case.h"

namespace gdn {

// A small case of subject recurrent like `c`, with its numbers drawn anew: as many tokens, and
// slots that all have states, with gaps between them; few and short heads. Final states are
// written, and each sequence starts from its first slot; the sequence coding and all else stay
// those of c.
Case batch_case(const Case& c, int64_t slots, int64_t tokens);
// The same whose calls write a state for each token, and may start from an accepted one.
Case drafting_case(const Case& c, int64_t slots, int64_t tokens);

// Sequences of `lengths`, their tokens from `first_token` of the stream on.
Call batch_call(std::vector<int64_t> lengths, std::vector<int64_t> slots, int64_t first_token = 0);
// from, from + 1, ..., count numbers.
std::vector<int64_t> counted(int64_t from, int64_t count);

// One slot's state, and one token's output, of what a call gave.
std::vector<float> state_of_slot(const Case& c, const CallObserved& seen, int64_t slot);
std::vector<float> output_of_tokens(const Case& c, const CallObserved& seen, int64_t first,
                                    int64_t count);

struct RecurrentJudged {
  Observation seen;
  Verdict verdict;
};
// Makes the calls of a case of subject recurrent. Each that is right gives what the reference says
// from the states that the call before it left; each that is wrong is refused for its arguments.
RecurrentJudged judge_recurrent(const Case& c, const Lab& lab);

// As Observation::served; of the recurrence, calls that are wrong are rightly refused.
Verdict answered(const Case& c, const Observation& seen);

// Does the engine take one token after the other, so that bits do not depend on where calls end?
bool is_token_loop(const Lab& lab);

}  // namespace gdn
