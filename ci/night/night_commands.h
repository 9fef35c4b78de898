// The commands of the night shift, as options of the program.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "ci/exit_status.h"
#include "ci/night/collect.h"
#include "ci/night/history_options.h"
#include "ci/night/panel.h"
#include "ci/night/report_command.h"

namespace gdn {

struct NightCommands {
  PanelCommand panel;
  CollectCommand collect;
  HistoryCommand history;
  ReportCommand report;
};
void add_night_commands(CLI::App& app, NightCommands& commands);
// Of the one that was asked for; nothing where it is another's.
std::optional<ExitStatus> run_night_commands(const CLI::App& app, const NightCommands& commands);

}  // namespace gdn
