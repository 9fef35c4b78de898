// Where the wrong elements of a tensor lie, and what they have in common: for a fault that no known
// formula explains, and as a hint beside one that does.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ci/triage/localise.h"
#include "reference/bound.h"

namespace gdn {

// Each is exact: true of every wrong element, and of places false of every right one. Empty: the
// wrong elements lie as if at random. `axes` are those of the tensor, row-major.
std::vector<std::string> patterns_of(std::span<const float> got, const Bounded& want,
                                     std::span<const Axis> axes);

}  // namespace gdn
