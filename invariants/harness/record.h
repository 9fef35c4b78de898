// What is written down of a verdict: one line of JSON, for triage, reports and history.
#pragma once

#include <string>
#include <string_view>

#include "invariants/harness/verdict.h"
#include "reference/case.h"

namespace gdn {

inline constexpr int record_version = 2;

// Keys, in this order: version, engine, invariant, case (hash8), subject, seed (as text: JSON
// numbers lose bits above 2^53), outcome, elements, undecided, worst_ratio, worst_ulp, worst_index,
// detail, text (the case, for who wants to run it again; records of version 1 have none). A figure
// that is infinite is the text "inf". No line break, no clock, no address.
std::string record_line(std::string_view engine, std::string_view invariant, const Case& c,
                        const Verdict& verdict);

}  // namespace gdn
