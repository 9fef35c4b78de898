// A batch of the slot-addressed recurrence that goes wrong: is the rule wrong on a sequence, or the
// way to its tokens and states?
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ci/triage/fault_form.h"
#include "invariants/harness/lab.h"
#include "reference/recurrent_call.h"

namespace gdn {

// The first call of a case of subject recurrent that goes wrong.
struct WrongBatch {
  size_t call = 0;    // index in the case's calls
  std::string array;  // "o", "S", "snapshots"; empty where only what must stay was written
  Verdict verdict;
  std::string misconduct;   // what the run wrote that it should not have, in the Lab's words
  RecurrentBatch batch;     // what the call means
  std::vector<float> pool;  // all states before it, [states][vh][kd][vd], as the engine held them
  std::map<std::string, std::vector<float>> gave;
  CallExpectation want;
};
// Nothing where every call is right, or one that is right is refused.
std::optional<WrongBatch> first_wrong_batch(const Case& c, const Lab& lab);

// A sequence of the wrong call as a case of its own: the same tokens from the same state, packed,
// in one call that names no slot.
Case sequence_alone(const Case& c, const WrongBatch& wrong, const BatchSequence& sequence);

// Known faults of addressing that explain every number of the call, best first.
std::vector<Explanation> explanations_of(const Case& c, const WrongBatch& wrong, const Lab& lab);

}  // namespace gdn
