// What the commands that judge mutants are given: seeds, drawn cases, and mutants by their names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ci/case_files.h"
#include "ci/exit_status.h"
#include "invariants/harness/engine.h"

namespace gdn {

// The cases below a folder, or of the tree's own seeds where none is named; exit_bad_input and a
// line where there is nothing to read.
ExitStatus read_seeds(const std::string& folder, std::vector<CaseFile>& cases);

// Adds so many that are drawn from a seed as the command line gives it; empty: 1.
ExitStatus add_drawn(const std::string& seed, int64_t count, std::vector<CaseFile>& cases);

// `mutant:NAME` as NAME.
std::string without_prefix(const std::string& name);

// Adds an engine for each name, with or without `mutant:`; all that are built in if there are none.
// `names` becomes those names without it.
ExitStatus find_mutants(std::vector<std::string>& names, std::vector<EngineSource>& engines);

}  // namespace gdn
