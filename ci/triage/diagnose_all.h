// Questions answered in processes of their own: an engine may crash or hang in any of them.
#pragma once

#include <functional>
#include <vector>

#include "ci/triage/diagnose.h"
#include "invariants/harness/engine.h"

namespace gdn {

struct CaseAsked {
  Question question;
  EngineSource engine;
};

struct Diagnosing {
  int processes = 1;
  // Of processor time: an engine that takes longer for a question is ended, and said to hang.
  double seconds_max = 300;
};

// A finding for each, in their order. An engine that ends its process, or has to be ended, is the
// finding: op "host", an engine error, and how it ended.
std::vector<Finding> diagnose_all(const std::vector<CaseAsked>& asked, const Diagnosing& how);

}  // namespace gdn
