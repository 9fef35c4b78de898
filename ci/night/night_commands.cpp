// One function a command, as ci/main.cpp has them.
#include "ci/night/night_commands.h"

namespace gdn {
namespace {

void add_panel(CLI::App& app, PanelCommand& panel) {
  CLI::App* const command = app.add_subcommand(
      "panel", "fixed cases, whose figures a bit-stable engine repeats: see docs/nightly.md");
  command
      ->add_option("--engine", panel.engines,
                   "a built-in engine, mutant:NAME, or the path of a shared library; may be "
                   "repeated (default: twin, simt and, where it can be used, cuda)")
      ->allow_extra_args(false);
  command->add_option("--jobs", panel.jobs, "processes (default: one a core)")
      ->check(CLI::Range(1, 1024));
  command->add_option("--records", panel.records, "write what it found, as records of a night");
}

}  // namespace

void add_night_commands(CLI::App& app, NightCommands& commands) {
  add_panel(app, commands.panel);
  add_report(app, commands.report);
}

std::optional<ExitStatus> run_night_commands(const CLI::App& app, const NightCommands& commands) {
  if (app.got_subcommand("panel")) return run_panel(commands.panel);
  if (app.got_subcommand("report")) return run_report(commands.report);
  return std::nullopt;
}

}  // namespace gdn
