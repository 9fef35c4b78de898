// A finding as JSON: how it comes from the process that made it, and what a report holds of it.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "ci/triage/finding.h"

namespace gdn {

nlohmann::ordered_json json_of(const Finding& finding);
// Of what json_of gave.
Finding finding_of(const nlohmann::ordered_json& json);

// Heads and tokens of a case, as its text has them: v-heads; 1 where it has none to speak of.
int64_t heads_of(const Case& c);
int64_t tokens_of(const Case& c);

}  // namespace gdn
