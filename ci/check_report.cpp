// The report of `check` as text and Markdown.
#include "ci/check_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ci/case_files.h"
#include "ci/escaped.h"
#include "ci/table.h"

namespace gdn {
namespace {

std::string ratio(const CheckRow& row) {
  return row.tally.judged() == 0 ? "-" : fmt::format("{:.3g}", row.worst_ratio);
}

TextTable table_of_rows(const CheckReport& report) {
  TextTable table{{"invariant", "engine", "applied", "holds", "undecided", "suspicious",
                   "engine error", "fails", "not served", "worst error/bound"},
                  {}};
  // Zeros are left out, so that what is there stands out.
  const auto count = [](size_t n) { return n == 0 ? "" : fmt::format("{}", n); };
  for (const CheckRow& row : report.rows) {
    table.rows.push_back({row.invariant, row.engine, fmt::format("{}", row.tally.judged()),
                          count(row.tally.holds), count(row.tally.undecided),
                          count(row.tally.suspicious), count(row.tally.engine_errors),
                          count(row.tally.fails), count(row.tally.not_applicable), ratio(row)});
  }
  return table;
}

TextTable table_of_regimes(const CheckReport& report) {
  TextTable table{{"regime", "cases", "share"}, {}};
  for (const auto& [name, cases] : report.regimes) {
    const double percent = 100 * static_cast<double>(cases) / static_cast<double>(report.drawn);
    table.rows.push_back({name, fmt::format("{}", cases), fmt::format("{:.1f} %", percent)});
  }
  return table;
}

Tally tally_of(const CheckReport& report) {
  Tally all;
  for (const CheckRow& row : report.rows) all += row.tally;
  return all;
}

std::string what_was_judged(const CheckReport& report) {
  return fmt::format("seed {}: {} drawn cases{}, engines {}", report.seed, report.drawn,
                     report.corpus > 0 ? fmt::format(" after {} of the corpus", report.corpus) : "",
                     fmt::join(report.engines, ", "));
}

// Of an engine that serves little the names of a remark are a hundred.
std::string wrapped(const std::string& line) {
  constexpr size_t width_max = 100;
  if (!line.starts_with("not asked")) return line;
  std::string all;
  size_t width = 0;
  for (size_t at = 0; at < line.size();) {
    const size_t end = std::min(line.find(' ', at), line.size());
    const bool fits = width + 1 + end - at <= width_max;
    if (!all.empty()) all += fits ? " " : "\n  ";
    width = (fits ? width + 1 : 2) + end - at;
    all.append(line, at, end - at);
    at = end + 1;
  }
  return all;
}

// Invariants that were not asked, each reason once.
std::vector<std::string> not_asked_by_reason(const CheckReport& report) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const std::string& line : report.not_asked) {
    const size_t colon = line.find(": ");
    const std::string reason = line.substr(colon + 2);
    auto at = std::find_if(reasons.begin(), reasons.end(),
                           [&](const auto& entry) { return entry.first == reason; });
    if (at == reasons.end()) at = reasons.insert(at, {reason, {}});
    at->second.push_back(line.substr(0, colon));
  }
  std::vector<std::string> lines;
  for (const auto& [reason, names] : reasons) {
    lines.push_back(
        fmt::format("not asked, {} ({}): {}", reason, names.size(), fmt::join(names, " ")));
  }
  return lines;
}

// A line each for what a reader must not overlook, worst last.
std::vector<std::string> remarks(const CheckReport& report) {
  std::vector<std::string> lines;
  for (const std::string& engine : report.absent) lines.push_back("not available: " + engine);
  for (std::string& line : not_asked_by_reason(report)) lines.push_back(std::move(line));
  size_t tensors = 0;
  for (const CheckRow& row : report.rows) tensors += row.tensors;
  lines.push_back(fmt::format("tensors judged: {}", tensors));
  if (report.drawn_verdicts > 0) {
    const bool many = undecided_percent(report) > undecided_percent_max;
    lines.push_back(fmt::format(
        "{}undecided: {} of {} verdicts on drawn cases, {:.3g} %{}", many ? "warning: " : "",
        report.drawn_undecided, report.drawn_verdicts, undecided_percent(report),
        many ? fmt::format(", expected at most {} %", undecided_percent_max) : ""));
  }
  if (report.interrupted) lines.push_back("interrupted: what was judged until then is here");
  for (const std::string& name : report.never_applied) {
    lines.push_back(
        fmt::format("{}: {} never applied, although every engine that it needs is here{}",
                    report.few_cases ? "note" : "error", name,
                    report.few_cases ? "; the cases are few, draw more with --cases" : ""));
  }
  return lines;
}

std::vector<std::string> lines_of(const SavedFailure& failure) {
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{}: {} on {}: {}", name_of(failure.verdict.outcome),
                              failure.invariant, failure.engine, failure.verdict.detail));
  lines.push_back(
      fmt::format("found by {}, made smaller in {} steps", failure.origin, failure.steps));
  return lines;
}

// What else failed than the cases that were saved.
std::vector<std::string> unsaved(const CheckReport& report) {
  std::vector<std::string> lines;
  for (const CheckRow& row : report.rows) {
    const size_t wrong = row.tally.fails + row.tally.engine_errors;
    if (wrong == 0) continue;
    size_t saved = 0;
    for (const SavedFailure& failure : report.failures) {
      saved += failure.invariant == row.invariant && failure.engine == row.engine;
    }
    lines.push_back(fmt::format("{} on {}: {} of {} cases, {} saved", row.invariant, row.engine,
                                wrong, row.tally.judged(), saved));
  }
  return lines;
}

}  // namespace

double undecided_percent(const CheckReport& report) {
  if (report.drawn_verdicts == 0) return 0;
  return 100 * static_cast<double>(report.drawn_undecided) /
         static_cast<double>(report.drawn_verdicts);
}

ExitStatus status_of(const CheckReport& report) {
  const ExitStatus status = status_of(tally_of(report));
  if (status == exit_fails) return status;
  if (!report.never_applied.empty() && !report.few_cases) return exit_fails;
  if (report.smoke && undecided_percent(report) > undecided_percent_max) return exit_fails;
  return status;
}

std::string as_text(const CheckReport& report) {
  std::string text =
      fmt::format("{}\n\n{}", visible(what_was_judged(report)), as_text(table_of_rows(report)));
  if (report.drawn > 0) text += "\n" + as_text(table_of_regimes(report));
  text += "\n";
  for (const std::string& line : remarks(report)) text += wrapped(visible(line)) + "\n";
  for (const SavedFailure& failure : report.failures) {
    text += "\n";
    for (const std::string& line : lines_of(failure)) text += visible(line) + "\n";
    text += in_words(failure.smallest);
    text += "replay: " + visible(failure.replay) + "\n";
  }
  if (!report.failures.empty()) text += "\n";
  for (const std::string& line : unsaved(report)) text += visible(line) + "\n";
  text += fmt::format("\n{}\nreplay: {}\n", as_text(tally_of(report)), visible(report.command));
  return text;
}

std::string as_markdown(const CheckReport& report) {
  const char* title = status_of(report) == exit_ok ? "nothing fails" : "not all of it holds";
  std::string text = fmt::format("# deltaproof check: {}\n\n{}, by {}: {}.\n\n    {}\n\n", title,
                                 for_markdown(what_was_judged(report)), report.version,
                                 as_text(tally_of(report)), visible(report.command));
  for (const std::string& line : remarks(report)) text += "* " + for_markdown(line) + "\n";
  for (const std::string& line : unsaved(report)) text += "* " + for_markdown(line) + "\n";
  if (!report.failures.empty()) text += "\n## What fails\n";
  for (const SavedFailure& failure : report.failures) {
    text += fmt::format("\n### {} on {}: {}\n\n", failure.invariant, for_markdown(failure.engine),
                        hash8(failure.smallest));
    for (const std::string& line : lines_of(failure)) text += "* " + for_markdown(line) + "\n";
    text += "\n```\n" + in_words(failure.smallest) + visible(failure.replay) + "\n```\n";
  }
  text += "\n## Invariants\n\n" + as_markdown(table_of_rows(report));
  if (report.drawn > 0) text += "\n## Regimes\n\n" + as_markdown(table_of_regimes(report));
  return text;
}

}  // namespace gdn
