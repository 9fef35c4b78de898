// A Lab that expects what an engine of a stated arithmetic may give, whichever engine it is.
#pragma once

#include <optional>
#include <string>

#include "invariants/harness/lab.h"

namespace gdn {

// It is for expect alone: what it holds is the twin.
Lab lab_of(Contract contract);

// any_f32, torch_cpu, triton, or the contract of an engine, by its name or path. Nothing, and *why.
std::optional<Contract> contract_named(const std::string& name, std::string* why);

}  // namespace gdn
