// `deltaproof replay`: cases from files, judged one by one and told in words.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "ci/case_files.h"
#include "ci/commands.h"
#include "ci/escaped.h"
#include "ci/files.h"
#include "ci/judging.h"
#include "ci/supervised.h"
#include "ci/tally.h"

namespace gdn {
namespace {

using nlohmann::ordered_json;

// A change that a reader could trip over raises it.
constexpr int replay_report_version = 1;

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

std::string replay_of(const ReplayCommand& command, const Judging& judging, const CaseFile& file,
                      const Answer& one) {
  return fmt::format("{} replay {} --invariant {} --engine {}", shell_word(command.program),
                     shell_word(file.path), judging.invariants[one.invariant]->name,
                     shell_word(judging.engines[one.engine].name));
}

// What was told, for programs.
struct Told {
  Tally tally;
  ordered_json failures = ordered_json::array();
};

void tell(const ReplayCommand& command, const Judging& judging, const CaseFile& file,
          const std::vector<Answer>& judged, Told& all) {
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
    all.tally.count(one.verdict.outcome);
    if (one.verdict.outcome < Outcome::engine_error) continue;
    if (!told) to_terminal("\n{}", in_words(file.content));
    told = true;
    const std::string replay = replay_of(command, judging, file, one);
    to_terminal("replay: {}\n\n", replay);
    all.failures.push_back({{"invariant", judging.invariants[one.invariant]->name},
                            {"engine", judging.engines[one.engine].name},
                            {"verdict", name_of(one.verdict.outcome)},
                            {"detail", one.verdict.detail},
                            {"file", file.path},
                            {"text", print(file.content)},
                            {"replay", replay}});
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
  const std::string in_the_way = why_results_in_the_way({command.json}, command.files);
  if (!in_the_way.empty()) return refuse(in_the_way, exit_bad_input);
  const std::string unwritable = why_results_not_writable({command.json});
  if (!unwritable.empty()) return refuse(unwritable, exit_infrastructure);
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
  Told told;
  judge(judging, files.size(), nullptr, [&](size_t index, const std::vector<Answer>& judged) {
    tell(command, judging, files[index], judged, told);
  });
  to_terminal("{}\n", as_text(told.tally));
  if (command.json.empty()) return status_of(told.tally);
  const ordered_json report = {{"format", "deltaproof-replay"},
                               {"version", replay_report_version},
                               {"deltaproof", version_text()},
                               {"files", files.size()},
                               {"failures", told.failures}};
  // An engine's own words may be anything; what is no UTF-8 is replaced.
  const std::string why = write_whole(
      command.json, report.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
  return why.empty() ? status_of(told.tally) : refuse(why, exit_infrastructure);
}

}  // namespace

ExitStatus run_replay(const ReplayCommand& command) {
  return supervised([&](Doing& now) { return replay_all(command, now); });
}

}  // namespace gdn
