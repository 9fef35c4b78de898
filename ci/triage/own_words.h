// An engine that watches its own memory and queues says itself what is wrong: GDN_INTERNAL, and in
// its words which accesses nothing orders.
#pragma once

#include <optional>
#include <string>

#include "ci/triage/fault_form.h"
#include "invariants/harness/verdict.h"

namespace gdn {

// Did a call fail by a fault that the engine met in itself?
bool is_own_fault(const Verdict& verdict);
// The wait that is missing, by the words of docs/ascend-sim.md; nothing where they are no such
// words.
std::optional<Explanation> missing_wait(const std::string& words);

}  // namespace gdn
