// What a call of the recurrence gives that does not what its arguments say: of a batch that was
// changed, for who looks for the fault that would explain an engine's numbers.
#pragma once

#include "invariants/harness/observation.h"
#include "reference/contract.h"
#include "reference/recurrent_call.h"

namespace gdn {

// As Lab::expect_recurrent of the call at `index`, with `batch` in place of what it means.
CallExpectation expect_batch(const Case& c, size_t index, const RecurrentBatch& batch,
                             const std::vector<float>& pool, const Contract& contract);

}  // namespace gdn
