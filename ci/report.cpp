// The report of `verify` as text and Markdown.
#include "ci/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ci/escaped.h"
#include "ci/table.h"

namespace gdn {
namespace {

std::string figure(double value) {
  if (value == 0) return "0";
  return value >= 0.01 && value < 1e5 ? fmt::format("{:.3g}", value) : fmt::format("{:.2e}", value);
}

std::string place(const Judgement& row) {
  if (row.verdict.elements == 0) return "-";
  return row.tokens > 1 ? fmt::format("token {} [{}]", row.worst_token, row.verdict.worst_index)
                        : fmt::format("[{}]", row.verdict.worst_index);
}

std::string elements(const Verdict& verdict) {
  if (verdict.undecided == 0) return fmt::format("{}", verdict.elements);
  return fmt::format("{} ({} undecided)", verdict.elements, verdict.undecided);
}

TextTable table_of(const VerifyReport& report) {
  TextTable table{{"source", "scope", "operator", "tensor", "elements", "worst ulp", "error/bound",
                   "where", "verdict"},
                  {}};
  for (const VerifyRow& row : report.rows) {
    const Judgement& judged = row.judgement;
    table.rows.push_back({judged.source, std::string(name_of(row.scope)),
                          std::string(name_of(judged.op)), judged.tensor, elements(judged.verdict),
                          figure(judged.verdict.worst_ulp), figure(judged.verdict.worst_ratio),
                          place(judged), std::string(name_of(judged.verdict.outcome))});
  }
  return table;
}

std::string contracts_line(const VerifyReport& report) {
  std::string line;
  if (!report.capture_contract.empty()) {
    line += fmt::format("capture judged as {} in dialect {}", report.capture_contract,
                        report.capture_dialect);
  }
  if (!report.engine_contract.empty()) {
    line += fmt::format("{}engine {} by its contract {}", line.empty() ? "" : "; ", report.engine,
                        report.engine_contract);
  }
  return line;
}

// Operators that fail on the very inputs they were fed: whatever else fails may follow from them.
std::vector<std::string> suspects(const VerifyReport& report) {
  std::vector<std::string> lines;
  for (const VerifyRow& row : report.rows) {
    const Judgement& judged = row.judgement;
    // A row without elements is about how the engine behaved, not about an operator's numbers.
    if (row.scope != Scope::local || judged.verdict.outcome != Outcome::fails ||
        judged.verdict.elements == 0) {
      continue;
    }
    const std::string line = fmt::format("suspect: {} of {}: it fails on its own inputs",
                                         name_of(judged.op), judged.source);
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  }
  return lines;
}

// What is not green, a line each, then what to do about it, then the notes.
std::vector<std::string> remarks(const VerifyReport& report, const std::string& command) {
  std::vector<std::string> lines;
  bool replay = false;
  for (const VerifyRow& row : report.rows) {
    const Judgement& judged = row.judgement;
    if (judged.verdict.holds()) continue;
    replay = true;
    lines.push_back(fmt::format("{}: {} {} {} {}: {}", name_of(judged.verdict.outcome),
                                judged.source, name_of(row.scope), name_of(judged.op),
                                judged.tensor, judged.verdict.detail));
  }
  for (const std::string& line : suspects(report)) lines.push_back(line);
  if (replay) lines.push_back("replay: " + command);
  for (const std::string& note : report.notes) lines.push_back("note: " + note);
  return lines;
}

// Of what holds, is anything about the engine and not the captures?
bool engine_holds(const std::vector<VerifyReport>& reports) {
  for (const VerifyReport& report : reports) {
    for (const VerifyRow& row : report.rows) {
      if (row.judgement.verdict.holds() && row.judgement.source == report.engine) return true;
    }
  }
  return false;
}

}  // namespace

Tally tally_of(const std::vector<VerifyReport>& reports) {
  Tally tally;
  for (const VerifyReport& report : reports) {
    for (const VerifyRow& row : report.rows) tally.count(row.judgement.verdict.outcome);
  }
  return tally;
}

std::string counted(const std::vector<VerifyReport>& reports) {
  const std::string text = as_text(tally_of(reports));
  return engine_holds(reports) ? text : text + "; nothing of the engine was found to hold";
}

ExitStatus status_of(const std::vector<VerifyReport>& reports) {
  const ExitStatus status = status_of(tally_of(reports));
  return status == exit_ok && !engine_holds(reports) ? exit_fails : status;
}

std::string as_text(const VerifyReport& report, const std::string& command) {
  std::string text =
      fmt::format("{}\n{}, {}\n", visible(report.path), report.format, report.source);
  const std::string contracts = visible(contracts_line(report));
  if (!contracts.empty()) text += contracts + "\n";
  text += "\n" + as_text(table_of(report));
  const std::vector<std::string> lines = remarks(report, command);
  if (!lines.empty()) text += "\n";
  for (const std::string& line : lines) text += visible(line) + "\n";
  return text;
}

std::string as_markdown(const std::vector<VerifyReport>& reports, const RunFacts& facts) {
  const char* title = !facts.complete                 ? "the run ended early"
                      : status_of(reports) == exit_ok ? "nothing fails"
                                                      : "not all that was judged holds";
  std::string text = fmt::format("# deltaproof: {}\n\n", title);
  text +=
      fmt::format("{}, in {} file{}, with engine {}, in {:.1f} s by {}.\n\n    {}\n",
                  counted(reports), reports.size(), reports.size() == 1 ? "" : "s",
                  for_markdown(facts.engine), facts.seconds, facts.version, visible(facts.command));
  if (!facts.complete) text += fmt::format("\nNot complete: {}.\n", for_markdown(facts.ended));
  text += "\n## Worst error/bound by operator\n\n" + worst_by_operator(reports);
  for (const VerifyReport& report : reports) {
    text += fmt::format("\n## {}\n\n{}, {}. {}\n\n", for_markdown(report.path), report.format,
                        for_markdown(report.source), for_markdown(contracts_line(report)));
    text += as_markdown(table_of(report));
    const std::vector<std::string> lines = remarks(report, facts.command);
    if (!lines.empty()) text += "\n";
    for (const std::string& line : lines) text += "* " + for_markdown(line) + "\n";
  }
  return text;
}

std::string worst_by_operator(const std::vector<VerifyReport>& reports) {
  struct Line {
    std::string tensor, source, scope;
    size_t elements = 0;
    double ratio = -1;
    std::string file = "";  // of the worst
  };
  // By operator, then in the order of first appearance.
  std::map<Operator, std::vector<Line>> lines;
  const auto line_of = [&](const VerifyRow& row) -> Line& {
    std::vector<Line>& of_operator = lines[row.judgement.op];
    Line wanted{row.judgement.tensor, row.judgement.source, std::string(name_of(row.scope))};
    for (Line& line : of_operator) {
      if (line.tensor == wanted.tensor && line.source == wanted.source &&
          line.scope == wanted.scope) {
        return line;
      }
    }
    return of_operator.emplace_back(std::move(wanted));
  };
  for (const VerifyReport& report : reports) {
    for (const VerifyRow& row : report.rows) {
      Line& line = line_of(row);
      line.elements += row.judgement.verdict.elements;
      if (row.judgement.verdict.worst_ratio <= line.ratio) continue;
      line.ratio = row.judgement.verdict.worst_ratio;
      line.file = report.path.substr(report.path.find_last_of('/') + 1);
    }
  }
  TextTable table{{"operator", "tensor", "source", "scope", "elements", "worst error/bound", "in"},
                  {}};
  for (const auto& [op, of_operator] : lines) {
    for (const Line& line : of_operator) {
      table.rows.push_back({std::string(name_of(op)), line.tensor, line.source, line.scope,
                            fmt::format("{}", line.elements), figure(line.ratio), line.file});
    }
  }
  return as_markdown(table);
}

}  // namespace gdn
