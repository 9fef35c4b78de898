// Questions answered in processes of their own: an engine may crash or hang in any of them.
#pragma once

#include <functional>
#include <vector>

#include "ci/triage/diagnose.h"
#include "invariants/harness/engine.h"

namespace gdn {

struct Asked {
  Question question;
  EngineSource engine;
};

struct Diagnosing {
  int processes = 1;
  // An engine that gives nothing back for so long is ended, and said to hang.
  unsigned seconds_max = 300;
};

// A finding for each, in their order. An engine that ends its process, or has to be ended, is the
// finding: op "host", an engine error, and how it ended.
std::vector<Finding> diagnose_all(const std::vector<Asked>& asked, const Diagnosing& how);

}  // namespace gdn
