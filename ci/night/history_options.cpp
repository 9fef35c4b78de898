// `deltaproof history` on the command line.
#include "ci/night/history_options.h"

namespace gdn {

void add_history(CLI::App& app, HistoryCommand& history) {
  CLI::App* const command = app.add_subcommand(
      "history", "nights, remembered: what moved and since when: see docs/history.md");
  command->require_subcommand(1);
  const auto add = [&](const char* name, const char* about) {
    CLI::App* const one = command->add_subcommand(name, about);
    one->add_option("--db", history.db, "the history's file")->capture_default_str();
    return one;
  };
  add("import", "store nights, whole or not at all; twice changes nothing")
      ->add_option("files", history.files, "records of nights: see docs/records.md")
      ->required();
  add("list", "one line a night")->add_flag("--json", history.json, "as JSON");
  CLI::App* const prune = add("prune", "remove nights, but for since when something fails");
  prune->add_option("--keep", history.keep, "all but the latest N")
      ->check(CLI::Range(size_t{1}, size_t{1} << 40));
  prune->add_option("--before", history.before, "those that began before: 2026-11-30");
  CLI::App* const exported = add("export", "print the records of the latest night again");
  exported->add_option("--night", history.night, "of the night with this id");
  exported->add_flag("--all", history.all, "of every night");
  add("drift", "what moved in the latest night; status 1: an alarm")
      ->add_flag("--json", history.json, "as JSON");
}

ExitStatus run_history(const CLI::App& command, const HistoryCommand& history) {
  if (command.got_subcommand("import")) return run_history_import(history);
  if (command.got_subcommand("list")) return run_history_list(history);
  if (command.got_subcommand("prune")) return run_history_prune(history);
  if (command.got_subcommand("export")) return run_history_export(history);
  return run_history_drift(history);
}

}  // namespace gdn
