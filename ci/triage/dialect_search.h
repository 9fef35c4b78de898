// Dialects one step away, as forms: an engine that follows another convention than the one that it
// is judged by.
#pragma once

#include <vector>

#include "ci/triage/fault_form.h"

namespace gdn {

// Of each dimension that concerns the operator, each value but the run's own. Names are those of
// the dimension and the value: "qk_norm=max_norm".
std::vector<FaultForm> dialect_changes(const OperatorRun& run);

}  // namespace gdn
