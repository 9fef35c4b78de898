// Where a trace first leaves the model of the calls, and how.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "ci/triage/call_story.h"
#include "ci/triage/call_truth.h"
#include "invariants/harness/verdict.h"

namespace gdn {

struct Departure {
  enum class What : uint8_t {
    served,        // where the model refuses
    not_served,    // where the model serves
    other_status,  // a refusal, but another one
    no_words,      // a refusal without them
    same_words,    // those of the refusal before it, which was another
    allocated,     // by a refusal that says that it asks for nothing
    misconduct,    // it wrote what it must not, or a read was refused
    numbers,       // states, tensors, outputs
    unstable,      // two reads of one state differ
    memory         // held after close, or released too often
  };
  What what = What::numbers;
  size_t call = 0;
  Verdict verdict;
  // Of `numbers`: tensors by layer, "out" and other arrays of the call by name.
  std::map<int64_t, std::set<Tensor>> wrong;
  std::set<std::string> wrong_arrays;
  bool by_bounds = false;  // the engine's own steps are wrong in the same way

  int64_t layer() const { return wrong.empty() ? 0 : wrong.begin()->first; }
  bool is_wrong(int64_t layer, Tensor tensor) const {
    const auto found = wrong.find(layer);
    return found != wrong.end() && found->second.contains(tensor);
  }
};

// How a refusal was made, where it was right: minor beside what else may be wrong.
bool is_manner(Departure::What what);

// The first one; a later one where that is a manner alone.
std::optional<Departure> first_departure(const Trace& trace, const Lab& lab, CallTruth& truth);

}  // namespace gdn
