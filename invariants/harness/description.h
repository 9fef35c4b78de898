// What an engine says of itself, read from the JSON of gdn_api::describe. The keys are documented
// in docs/engine-description.md.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "device/gdn.h"
#include "reference/contract.h"
#include "reference/dialect.h"
#include "reference/tensor.h"

namespace gdn {

struct Description {
  std::string name, version;
  Dialect dialect;
  Contract contract;
  std::set<std::string, std::less<>> calls, apply, options;  // its capabilities
};

// Strict: an unknown key, a value of the wrong kind or out of range is an error, and *why says
// which key, what was expected and what was found.
std::optional<Description> parse_description(std::string_view json, std::string* why);

// Is what `calls` promises in the table? Empty, or what is missing.
std::string why_inconsistent(const Description& description, const gdn_api& api);

// Is this entry of the table there? By its name in gdn_api; open, close, ... included.
bool has_call(const gdn_api& api, std::string_view name);

}  // namespace gdn
