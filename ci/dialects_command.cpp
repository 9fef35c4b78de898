// `deltaproof dialects`: where presets differ, and the smallest cases that show it.
#include <fmt/format.h>

#include <cstdio>

#include "ci/commands.h"
#include "ci/dialect_report.h"
#include "ci/files.h"

namespace gdn {

ExitStatus run_dialects(const DialectsCommand& command) {
  const std::string unwritable =
      why_results_not_writable({command.json}, command.summary, dialects_part);
  if (!unwritable.empty()) return refuse(unwritable, exit_infrastructure);
  DialectReport report = compare_dialects();
  report.command = shell_word(command.program) + " dialects";
  if (!command.summary.empty()) report.command += " --summary " + shell_word(command.summary);
  fmt::print("{}", as_text(report));
  const std::vector<std::string> problems = problems_of(report);
  for (const std::string& problem : problems) fmt::print(stderr, "deltaproof: {}\n", problem);
  ExitStatus status = problems.empty() ? exit_ok : exit_fails;
  const auto said = [&](const std::string& why) {
    if (!why.empty()) status = combined(status, refuse(why, exit_infrastructure));
  };
  if (!command.json.empty()) said(write_whole(command.json, as_json(report)));
  if (!command.summary.empty()) {
    said(replace_part(command.summary, dialects_part, as_markdown(report)));
  }
  return status;
}

}  // namespace gdn
