// `deltaproof compare`: two reports of verify or of check, operator by operator.
#include <fmt/format.h>

#include "ci/commands.h"
#include "ci/compare.h"
#include "ci/escaped.h"
#include "ci/files.h"

namespace gdn {

ExitStatus run_compare(const CompareCommand& command) {
  const std::string in_the_way =
      why_results_in_the_way({command.json, command.markdown}, {command.before, command.after});
  if (!in_the_way.empty()) return refuse(in_the_way, exit_bad_input);
  const std::string unwritable = why_results_not_writable({command.json, command.markdown});
  if (!unwritable.empty()) return refuse(unwritable, exit_infrastructure);
  std::string why;
  const std::optional<ReadRun> before = read_run(command.before, &why);
  if (!before) return refuse(why, exit_bad_input);
  const std::optional<ReadRun> after = read_run(command.after, &why);
  if (!after) return refuse(why, exit_bad_input);
  const std::optional<Comparison> comparison = compare(*before, *after, command.level, &why);
  if (!comparison) return refuse(why, exit_bad_input);
  to_terminal("{}", as_text(*comparison));
  ExitStatus written = exit_ok;
  const auto write = [&](const std::string& path, const std::string& content) {
    if (!path.empty()) why = write_whole(path, content);
    if (!path.empty() && !why.empty()) written = refuse(why, exit_infrastructure);
  };
  write(command.json, as_json(*comparison));
  write(command.markdown, as_markdown(*comparison));
  return combined(status_of(*comparison), written);
}

}  // namespace gdn
