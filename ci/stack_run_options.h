// The options of `deltaproof stack-run`, as its help shows them.
#pragma once

#include <CLI/CLI.hpp>

#include "ci/commands.h"

namespace gdn {

void add_stack_run(CLI::App& app, StackRunCommand& run);

}  // namespace gdn
