// From a case that fails to a finding: the operator, the token, the cause, the smallest case.
#pragma once

#include <string>

#include "ci/triage/finding.h"
#include "invariants/harness/invariant.h"

namespace gdn {

struct Question {
  Case c;
  std::string engine;
  const Invariant* invariant = nullptr;  // that fails on it; null: nobody said
  std::string origin;                    // the file or record that it came from
};

// An engine that crashes takes this process with it. Where nothing fails, `op` is empty and the
// verdict is the worst that the invariants gave.
Finding diagnose(const Question& question, const Lab& lab);

}  // namespace gdn
