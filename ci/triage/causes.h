// What explains a fault, by more than one witness: a formula that one small case cannot tell from
// another is told from it by cases that the engine is asked beside it.
#pragma once

#include <vector>

#include "ci/triage/fault_form.h"
#include "ci/triage/localise.h"

namespace gdn {

// Explanations of what was found, of the cases that stood beside it, and of drawn cases of the same
// operator on which it is wrong too. Those that explain more of them come first; what most of them
// contradict is left out.
std::vector<Explanation> causes_of(const Located& found, const std::vector<Case>& beside,
                                   const Lab& lab);

}  // namespace gdn
