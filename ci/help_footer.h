// What `deltaproof --help` and the help of each command end with.
#pragma once

#include <CLI/CLI.hpp>

namespace gdn {

// Once all commands are there: all examples for the program, and its own for each command.
void give_footers(CLI::App& app);

}  // namespace gdn
