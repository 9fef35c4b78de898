// `deltaproof long-run`: a million tokens through one head, judged with a running bound.
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "ci/case_files.h"
#include "ci/commands.h"
#include "ci/escaped.h"
#include "ci/files.h"
#include "ci/judging.h"
#include "ci/long_run.h"
#include "ci/supervised.h"
#include "ci/table.h"
#include "invariants/harness/json_figure.h"

namespace gdn {
namespace {

using nlohmann::ordered_json;

std::string command_of(const LongRunCommand& command, const LongRun& run) {
  return fmt::format("{} long-run --engine {} --tokens {} --head-dim {} --horizon {} --seed {}",
                     shell_word(command.program), shell_word(command.engine), run.tokens,
                     run.head_dim, run.horizon, run.seed);
}

std::string table_of(const LongRunReport& report) {
  TextTable table;
  table.header = {"tokens",     "largest |S|",    "error of S",
                  "bound of S", "S: error/bound", "O: worst error/bound so far"};
  for (const LongRunPoint& p : report.points) {
    table.rows.push_back({fmt::format("{}", p.tokens), fmt::format("{:.3g}", p.state_max),
                          fmt::format("{:.3g}", p.error_max), fmt::format("{:.3g}", p.bound_max),
                          fmt::format("{:.3g}", p.ratio_S), fmt::format("{:.3g}", p.ratio_O)});
  }
  return as_text(table);
}

std::string as_json(const LongRunReport& report, const LongRunCommand& command,
                    const LongRun& run) {
  ordered_json points = ordered_json::array();
  for (const LongRunPoint& p : report.points) {
    points.push_back({{"tokens", p.tokens},
                      {"state_max", json_figure(p.state_max)},
                      {"error_max", json_figure(p.error_max)},
                      {"bound_max", json_figure(p.bound_max)},
                      {"ratio_S", json_figure(p.ratio_S)},
                      {"ratio_O", json_figure(p.ratio_O)}});
  }
  const ordered_json all = {{"format", "deltaproof-long-run"},
                            {"version", 1},
                            {"deltaproof", version_text()},
                            {"command", command_of(command, run)},
                            {"engine", command.engine},
                            {"tokens", run.tokens},
                            {"head_dim", run.head_dim},
                            {"horizon", run.horizon},
                            {"seed", fmt::format("{}", run.seed)},
                            {"verdict", name_of(report.verdict.outcome)},
                            {"detail", report.verdict.detail},
                            {"judged", report.judged},
                            {"points", points}};
  return all.dump(2) + "\n";
}

ExitStatus status_of(const Verdict& verdict) {
  if (verdict.holds()) return exit_ok;
  return verdict.outcome == Outcome::engine_error ? exit_engine_failed : exit_fails;
}

ExitStatus long_run_of(const LongRunCommand& command, Doing& now) {
  LongRun run{.tokens = command.tokens, .head_dim = command.head_dim, .horizon = command.horizon};
  const ExitStatus has_seed = seed_asked(command.seed, &run.seed);
  if (has_seed != exit_ok) return has_seed;
  EnginesHere here;
  const ExitStatus found = find_engine_for(command.engine, command.json, now, here);
  if (found != exit_ok) return found;

  const Lab lab(here.engines.front());
  now.enter(Doing::Whose::engine, fmt::format("engine {}: a long run", command.engine));
  const bool terminal = isatty(STDERR_FILENO) == 1;
  const LongRunReport report = judge_long_run(run, lab, [&](int64_t judged) {
    if (terminal) fmt::print(stderr, "\r\033[K{} of {} tokens", judged, run.tokens);
  });
  if (terminal) fmt::print(stderr, "\r\033[K");
  now.enter(Doing::Whose::ours, "writing the report");
  to_terminal("engine {}, one head of {} x {}, horizon {} tokens, seed {}\n\n{}\n",
              visible(command.engine), run.head_dim, run.head_dim, run.horizon, run.seed,
              table_of(report));
  if (!report.verdict.detail.empty()) {
    to_terminal("{}: {}\n", name_of(report.verdict.outcome), visible(report.verdict.detail));
  }
  to_terminal("{} of {} tokens judged, {} numbers: {}\nreplay: {}\n", report.judged, run.tokens,
              report.verdict.elements, name_of(report.verdict.outcome), command_of(command, run));
  ExitStatus written = exit_ok;
  if (!command.json.empty()) {
    const std::string why = write_whole(command.json, as_json(report, command, run));
    if (!why.empty()) written = refuse(why, exit_infrastructure);
  }
  return combined(status_of(report.verdict), written);
}

}  // namespace

ExitStatus run_long_run(const LongRunCommand& command) {
  return supervised([&](Doing& now) { return long_run_of(command, now); });
}

}  // namespace gdn
