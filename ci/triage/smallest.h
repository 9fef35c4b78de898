// What is suspected on a case, cheaply enough to be asked of hundreds of smaller ones.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ci/triage/finding.h"
#include "ci/triage/localise.h"
#include "invariants/harness/invariant.h"

namespace gdn {

inline constexpr const char* host = "host";

struct Suspicion {
  Case c;  // on which it was seen
  std::string op, tensor;
  bool in_operator = false;   // localise finds it
  bool by_invariant = false;  // only the invariant sees it
  Verdict verdict;
  std::optional<CallFinding> call;
  std::vector<Explanation> explanations;  // of a batch, whose sequences are right on their own
  std::vector<std::string> notes;
};

// An operator out of budget; or the host, where the operator alone is right on the same numbers, or
// the engine refuses what is valid.
std::optional<Suspicion> suspect_operator(const Case& c, const Lab& lab);
// A call that leaves the model of the calls: of the case's own, or of others that are made for it.
std::optional<Suspicion> suspect_call(const Case& c, const Lab& lab);
// Of a recurrence, which finds its arguments in buffers: one of these that does not hold them.
std::optional<Suspicion> suspect_buffer(const Case& c, const Lab& lab);
// What localise finds, with evidence.
std::optional<Located> located(const Case& c, const Lab& lab);

struct Smallest {
  Case c;
  size_t steps = 0;
  std::optional<CallFinding> call;  // on it
};
// The smallest case near that of the suspicion on which the same is suspected. Of a call it is one
// of the smallest layers there are, if they show as much; of what only the invariant sees, one on
// which it fails in the same way.
Smallest make_smallest(const Suspicion& suspicion, const Invariant* invariant, const Lab& lab);

}  // namespace gdn
