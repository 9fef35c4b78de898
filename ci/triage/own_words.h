// An engine that watches its own memory, threads and queues says itself what is wrong:
// GDN_INTERNAL, and in its words which kernel did what, or which accesses nothing orders.
#pragma once

#include <optional>
#include <string>

#include "ci/triage/fault_form.h"
#include "invariants/harness/verdict.h"

namespace gdn {

// Did a call fail by a fault that the engine met in itself?
bool is_own_fault(const Verdict& verdict);

struct OwnWords {
  std::string op;  // an operator, or "host" where memory was gone that a kernel was given
  Explanation cause;
};
// What the words of docs/simulator.md and docs/ascend-sim.md blame, and any that say "kernel K" of
// an operator; nothing where they are no such words.
std::optional<OwnWords> own_words(const std::string& words);

}  // namespace gdn
