// What an operator should have given by the reference: of the evidence as it is, and of evidence,
// shapes and dialects that a fault changes.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ci/triage/fault_form.h"

namespace gdn {

// Of each array of `gave`; o of a delta rule from the S in `gave`.
FaultyArrays right_of(const Evidence& at, const OperatorRun& run);

// All of a run but its tokens.
OperatorRun without_tokens(const OperatorRun& run);

// A form whose fault is another input, shape, dialect or matrix: what is right for those. `alter`
// returns false where this token cannot show the fault.
using Alter = std::function<bool(Evidence& at, OperatorRun& run)>;
FaultForm altered(std::string name, std::string sentence, Operator op, Alter alter,
                  std::vector<std::string> explains = {}, double choices = 1);

// The evidence of the token before this one; null where it was not seen.
const Evidence* token_before(const Evidence& at, const OperatorRun& run);

// Tokens of a delta rule's arrays: 1, but for calls of the slot-addressed recurrence.
int64_t tokens_of(const Evidence& at, const OperatorRun& run);

}  // namespace gdn
