// `deltaproof replay`: cases from files, judged one by one and told in words.
#include <fmt/format.h>

#include <filesystem>

#include "ci/case_files.h"
#include "ci/commands.h"
#include "ci/escaped.h"
#include "ci/files.h"
#include "ci/judging.h"
#include "ci/supervised.h"
#include "ci/tally.h"

namespace gdn {
namespace {

// The folder of a regression is the invariant that it is filed under: that one is told first.
std::string filed_under(const std::string& path) {
  return std::filesystem::path(path).parent_path().filename();
}

std::string verdict_line(const Judging& judging, const Answer& one) {
  std::string line =
      fmt::format("{:<14}  {}  {}", name_of(one.verdict.outcome), judging.engines[one.engine].name,
                  judging.invariants[one.invariant]->name);
  if (one.verdict.elements > 0) {
    line += fmt::format(", {} elements, worst error/bound {:.3g}", one.verdict.elements,
                        one.verdict.worst_ratio);
  }
  if (!one.verdict.detail.empty()) line += ": " + one.verdict.detail;
  return visible(line);
}

void tell(const ReplayCommand& command, const Judging& judging, const CaseFile& file,
          const std::vector<Answer>& judged, Tally& tally) {
  const std::string own = filed_under(file.path);
  std::vector<Answer> in_order;
  for (const bool first : {true, false}) {
    for (const Answer& one : judged) {
      if ((judging.invariants[one.invariant]->name == own) == first) in_order.push_back(one);
    }
  }
  to_terminal("{}\n", visible(file.path));
  bool told = false;
  for (const Answer& one : in_order) {
    to_terminal("{}\n", verdict_line(judging, one));
    tally.count(one.verdict.outcome);
    if (one.verdict.outcome < Outcome::engine_error) continue;
    if (!told) to_terminal("\n{}", in_words(file.content));
    told = true;
    to_terminal("replay: {} replay {} --invariant {} --engine {}\n\n", shell_word(command.program),
                shell_word(file.path), judging.invariants[one.invariant]->name,
                shell_word(judging.engines[one.engine].name));
  }
  if (judged.empty()) to_terminal("no invariant that was asked for applies to this case\n");
  to_terminal("\n");
}

ExitStatus replay_all(const ReplayCommand& command, Doing& now) {
  std::vector<CaseFile> files;
  for (const std::string& path : command.files) {
    std::string why;
    std::optional<Case> c = read_case(path, &why);
    if (!c) return refuse(why, exit_bad_input);
    files.push_back({path, *std::move(c)});
  }
  now.enter(Doing::Whose::engine, "loading the engines");
  EnginesHere engines;
  const bool own_choice = command.engines.empty();
  const std::vector<std::string> names =
      own_choice ? std::vector<std::string>{"twin", "simt"} : command.engines;
  Judging judging;
  ExitStatus status = find_engines(names, false, engines);
  if (status == exit_ok) status = find_invariants(command.invariants, judging.invariants);
  if (status != exit_ok) return status;
  now.enter(Doing::Whose::ours, "judging");
  judging.engines = engines.engines;
  judging.case_at = [&](size_t index) { return files[index].content; };
  judging.asks = [](size_t, const Case&, const Invariant&, size_t) { return true; };
  Tally tally;
  judge(judging, files.size(), nullptr, [&](size_t index, const std::vector<Answer>& judged) {
    tell(command, judging, files[index], judged, tally);
  });
  to_terminal("{}\n", as_text(tally));
  return status_of(tally);
}

}  // namespace

ExitStatus run_replay(const ReplayCommand& command) {
  return supervised([&](Doing& now) { return replay_all(command, now); });
}

}  // namespace gdn
