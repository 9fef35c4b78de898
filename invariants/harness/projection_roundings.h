// The statistical tier asked of a case: each projection in it, what the engine fed it and what it
// gave, as errors of rounding.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "invariants/harness/lab.h"
#include "invariants/harness/verdict.h"
#include "reference/case.h"
#include "reference/contract.h"

namespace gdn {

// Shorter sums leave little room beneath the proven bound, and are not asked about.
inline constexpr int64_t long_sum_terms = 128;

// A case of one projection with as many rows as tell something, and columns enough; one that gives
// its numbers stays as it is.
Case wide_projection(Case c);

// Each projection of a case, all tokens of a tensor in one. As the engine's contract orders sums,
// or as `order` does, where that is given. Suspicious where errors are none of rounding to nearest;
// not_applicable where that cannot be said.
Verdict judge_roundings(const Case& c, const Lab& lab,
                        const std::optional<Reduction>& order = std::nullopt);

}  // namespace gdn
