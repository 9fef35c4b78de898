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

void add_collect(CLI::App& app, CollectCommand& collect) {
  CLI::App* const command = app.add_subcommand(
      "collect", "the records of a night from what its stages wrote: see docs/nightly.md");
  command
      ->add_option("folders", collect.folders,
                   "of one night, or with --merge the nights.jsonl of its shards")
      ->required();
  command->add_flag("--merge", collect.merge, "shards of one night, as one");
  command->add_option("--out", collect.out, "where to write (default: FOLDER/night.jsonl)");
  command->add_option("--id", collect.id,
                      "of the night; the same for all of its shards (default: what "
                      "FOLDER/night.jsonl says of itself)");
  command->add_option("--commit", collect.commit, "that was judged");
  command->add_option("--subject", collect.subject, "of the commit");
  command->add_option("--began", collect.began, "as 2026-11-30T02:00:00Z");
  command->add_option("--command", collect.command, "that ran the night");
  command->add_option("--seed", collect.seed, "of the cases that were drawn");
  command->add_option("--shard", collect.shard, "i/n, as 0/4 to 3/4");
  command->add_option("--gpu", collect.gpu, "its name; without it there is none");
  command->add_option("--driver", collect.driver, "of the GPU");
  command->add_flag("--unfinished", collect.unfinished, "the night goes on: write no end");
}

}  // namespace

void add_night_commands(CLI::App& app, NightCommands& commands) {
  add_panel(app, commands.panel);
  add_collect(app, commands.collect);
  add_history(app, commands.history);
  add_report(app, commands.report);
}

std::optional<ExitStatus> run_night_commands(const CLI::App& app, const NightCommands& commands) {
  if (app.got_subcommand("panel")) return run_panel(commands.panel);
  if (app.got_subcommand("collect")) return run_collect(commands.collect);
  if (app.got_subcommand("report")) return run_report(commands.report);
  if (app.got_subcommand("history")) {
    return run_history(*app.get_subcommand("history"), commands.history);
  }
  return std::nullopt;
}

}  // namespace gdn
