// What no list of calls on layers shows: shapes that are opened, other machines, the recurrence.
#pragma once

#include <optional>

#include "ci/triage/finding.h"

namespace gdn {

// A shape that no layer can have is opened.
std::optional<CallFinding> wrongly_opened(const Case& c, const Lab& lab);
// The engine's kernels give other bits than on the simulator: zeros where those are subnormal, or
// zeros of another sign.
std::optional<CallFinding> unlike_the_simulator(const Case& c, const Lab& lab);
// Of a case of another subject: the layout of the recurrence's state, or the simulator.
std::optional<CallFinding> wrong_beside_layers(const Case& c, const Lab& lab);
// A buffer that does not hold what was written, by calls beside those of a layer's case.
std::optional<CallFinding> wrong_buffer(const Case& c, const Lab& lab);

}  // namespace gdn
