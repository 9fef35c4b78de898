// `deltaproof odds`: the false alarms of the statistical tier, and what it sees, by counting.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ci/case_files.h"
#include "ci/commands.h"
#include "ci/escaped.h"
#include "ci/files.h"
#include "ci/judging.h"
#include "ci/odds.h"
#include "ci/processes.h"
#include "ci/supervised.h"
#include "invariants/harness/regimes.h"

namespace gdn {
namespace {

// The part of the document that --summary replaces.
constexpr const char* odds_part = "measured odds";
constexpr int64_t cases_of_a_task = 500;

// The counts of a row, from process to process; names stay where they are.
struct Counts {
  uint64_t judged, left_out, suspicious, beyond_bound, without_controls;
  double worst_ratio;
};

std::string packed(const OddsRow& row) {
  const Counts counts = {row.judged,       row.left_out,         row.suspicious,
                         row.beyond_bound, row.without_controls, row.worst_ratio};
  std::string bytes(sizeof counts, '\0');
  std::memcpy(bytes.data(), &counts, sizeof counts);
  return bytes;
}

OddsRow unpacked(std::string_view bytes) {
  Counts counts = {};
  std::memcpy(&counts, bytes.data(), sizeof counts);
  OddsRow row;
  row.judged = counts.judged;
  row.left_out = counts.left_out;
  row.suspicious = counts.suspicious;
  row.beyond_bound = counts.beyond_bound;
  row.without_controls = counts.without_controls;
  row.worst_ratio = counts.worst_ratio;
  return row;
}

ExitStatus measure(const OddsCommand& command, OddsReport& report) {
  const size_t pieces = static_cast<size_t>((report.cases + cases_of_a_task - 1) / cases_of_a_task);
  std::vector<EngineSource> engines;
  for (const OddsRow& row : report.rows) {
    std::string why;
    std::optional<EngineSource> engine = find_engine(row.engine, &why);
    if (!engine) return refuse(why, exit_infrastructure);
    engines.push_back(*std::move(engine));
  }
  std::string why;
  Work work;
  work.tasks = pieces * report.rows.size();
  work.run = [&](size_t task, size_t first, Channel& channel) {
    // It is not the first process on this task: the one before ended in it.
    if (first > 0) return;
    const size_t r = task % report.rows.size();
    const auto begin = static_cast<int64_t>(task / report.rows.size()) * cases_of_a_task;
    const Lab lab(engines[r]);
    channel.begin(0);
    OddsRow row = report.rows[r];
    for (int64_t i = begin; i < std::min(begin + cases_of_a_task, report.cases); ++i) {
      count(draw_case(report.seed, static_cast<uint64_t>(i)), lab, row);
    }
    channel.put(packed(row));
  };
  std::vector<OddsRow> results(work.tasks);
  work.result = [&](size_t task, size_t, std::string_view result) {
    results[task] = unpacked(result);
  };
  work.crashed = [&](size_t, size_t, const std::string& how) { why = how; };
  size_t done = 0;
  work.done = [&](size_t) {
    if (++done % report.rows.size() != 0) return;
    fmt::print(stderr, "deltaproof: {} of {}\n", done, work.tasks);
  };
  work.stop = [&](size_t) { return !why.empty(); };
  share_out(command.jobs > 0 ? command.jobs : processes_here(), work);
  if (!why.empty()) return refuse(why, exit_engine_failed);
  for (size_t t = 0; t < results.size(); ++t) {
    add(results[t], report.rows[t % report.rows.size()]);
  }
  return exit_ok;
}

ExitStatus odds_of(const OddsCommand& command, Doing& now) {
  OddsReport report;
  const ExitStatus has_seed = seed_asked(command.seed, &report.seed);
  if (has_seed != exit_ok) return has_seed;
  const std::string in_the_way = why_results_in_the_way({command.json, command.summary}, {});
  if (!in_the_way.empty()) return refuse(in_the_way, exit_bad_input);
  const std::string unwritable =
      why_results_not_writable({command.json}, command.summary, odds_part);
  if (!unwritable.empty()) return refuse(unwritable, exit_infrastructure);
  now.enter(Doing::Whose::ours, "counting");
  report.cases = command.cases;
  report.version = version_text();
  report.rows = odds_rows();
  report.command = fmt::format("{} odds --seed {} --cases {}", shell_word(command.program),
                               report.seed, command.cases);
  if (!command.summary.empty()) report.command += " --summary " + shell_word(command.summary);
  const std::string corpus = find_corpus();
  if (corpus.empty()) return refuse("there is no folder corpus here", exit_bad_input);
  const ExitStatus measured = measure(command, report);
  if (measured != exit_ok) return measured;
  std::string why;
  const std::optional<OddsRow> captures = row_of_captures(corpus, &why);
  if (!captures) return refuse(why, exit_infrastructure);
  report.rows.push_back(*captures);
  to_terminal("{}", as_text(report));
  ExitStatus written = exit_ok;
  const auto said = [&](const std::string& what) {
    if (!what.empty()) written = refuse(what, exit_infrastructure);
  };
  if (!command.json.empty()) said(write_whole(command.json, as_json(report)));
  if (!command.summary.empty()) {
    said(replace_part(command.summary, odds_part, as_markdown(report)));
  }
  return written;
}

}  // namespace

ExitStatus run_odds(const OddsCommand& command) {
  return supervised([&](Doing& now) { return odds_of(command, now); });
}

}  // namespace gdn
