// `deltaproof history` on the command line.
#pragma once

#include <CLI/CLI.hpp>

#include "ci/night/history_command.h"

namespace gdn {

// The command with its own commands; it outlives neither of the two.
void add_history(CLI::App& app, HistoryCommand& history);
// The one that was given.
ExitStatus run_history(const CLI::App& command, const HistoryCommand& history);

}  // namespace gdn
