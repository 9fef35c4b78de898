// `deltaproof report`: a night and its history as pages and as files for other programs.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "ci/exit_status.h"

namespace gdn {

struct ReportCommand {
  std::string night;        // the records of one; empty: the latest of the history
  std::string history;      // empty: the night alone
  std::string out = "out";  // a folder
  size_t nights_max = 30;   // of the history
};

void add_report(CLI::App& app, ReportCommand& report);
ExitStatus run_report(const ReportCommand& report);

}  // namespace gdn
