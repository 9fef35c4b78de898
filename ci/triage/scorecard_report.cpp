// The scorecard of triage as a table with its totals.
#include <fmt/format.h>

#include <algorithm>

#include "ci/escaped.h"
#include "ci/table.h"
#include "ci/triage/finding_json.h"
#include "ci/triage/host_cause.h"
#include "ci/triage/report.h"
#include "ci/triage/scorecard.h"

namespace gdn {
namespace {

struct Totals {
  size_t mutants = 0, equivalent = 0, killed = 0, operator_right = 0, cause_right = 0, one_head = 0;
  int64_t tokens_median = 0, heads_median = 0;
  double seconds_p50 = 0, seconds_p95 = 0;
};

// The element below which a share of a sorted list lies: the nearest rank.
template <class T>
T rank_of(std::vector<T> all, double share) {
  if (all.empty()) return T{};
  std::sort(all.begin(), all.end());
  const auto rank = static_cast<size_t>(share * static_cast<double>(all.size() - 1) + 0.5);
  return all[rank];
}

Totals totals_of(const Scorecard& scorecard) {
  Totals totals;
  std::vector<int64_t> tokens, heads;
  std::vector<double> seconds;
  totals.mutants = scorecard.rows.size();
  for (const Scored& row : scorecard.rows) {
    totals.equivalent += row.is_equivalent;
    if (!row.is_killed()) continue;
    ++totals.killed;
    totals.operator_right += row.is_operator_right();
    totals.cause_right += row.is_cause_right();
    tokens.push_back(tokens_of(row.finding.smallest));
    heads.push_back(heads_of(row.finding.smallest));
    seconds.push_back(row.seconds);
  }
  totals.tokens_median = rank_of(tokens, 0.5);
  totals.heads_median = rank_of(heads, 0.5);
  totals.seconds_p50 = rank_of(seconds, 0.5);
  totals.seconds_p95 = rank_of(seconds, 0.95);
  return totals;
}

double percent(size_t part, size_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string as_line(const Scorecard& scorecard) {
  const Totals t = totals_of(scorecard);
  const std::string equivalent =
      t.equivalent == 0 ? "" : fmt::format(", and {} are proven equivalent", t.equivalent);
  const std::string causes = scorecard.of_kernels
                                 ? ""
                                 : fmt::format(", the cause for {} ({:.1f} %)", t.cause_right,
                                               percent(t.cause_right, t.killed));
  return fmt::format(
      "{} of {} mutants are killed by a seed{}. Of those the operator is right for {} of {} "
      "({:.1f} %){}. Smallest cases: median {} tokens, {} heads. From the failing case to the "
      "finding: p50 {:.2f} s, p95 {:.2f} s.\n",
      t.killed, t.mutants, equivalent, t.operator_right, t.killed,
      percent(t.operator_right, t.killed), causes, t.tokens_median, t.heads_median, t.seconds_p50,
      t.seconds_p95);
}

const char* mark(bool right) { return right ? "right" : "wrong"; }

TextTable table_of(const Scorecard& scorecard) {
  TextTable table = {{"mutant", "its operator", "operator named", "operator is", "cause named",
                      "cause is", "tokens", "heads"},
                     {}};
  for (const Scored& row : scorecard.rows) {
    if (!row.is_killed()) {
      table.rows.push_back({row.mutant, row.op,
                            row.is_equivalent ? "proven equivalent" : "no seed kills it", "", "",
                            "", "", ""});
      continue;
    }
    const std::string cause = cause_of(row.finding);
    table.rows.push_back({row.mutant, row.op, row.finding.op.empty() ? "-" : row.finding.op,
                          mark(row.is_operator_right()), cause.empty() ? "-" : cause,
                          cause.empty() || scorecard.of_kernels ? "" : mark(row.is_cause_right()),
                          std::to_string(tokens_of(row.finding.smallest)),
                          std::to_string(heads_of(row.finding.smallest))});
  }
  return table;
}

}  // namespace

bool Scored::is_cause_right() const {
  if (finding.call && !finding.call->causes.empty()) {
    const std::string& cause = finding.call->causes.front();
    return cause == mutant ||
           std::any_of(host_causes().begin(), host_causes().end(), [&](const HostCause& known) {
             return known.name == cause && std::find(known.explains.begin(), known.explains.end(),
                                                     mutant) != known.explains.end();
           });
  }
  return !finding.explanations.empty() && is_cause_of(finding.explanations.front(), mutant);
}

std::string as_text(const Scorecard& scorecard) {
  return as_text(table_of(scorecard)) + "\n" + as_line(scorecard);
}

std::string as_markdown(const Scorecard& scorecard) {
  return fmt::format("Written by {}, {}.\n\n{}\n{}", code_for_markdown(scorecard.command),
                     scorecard.version, as_line(scorecard), as_markdown(table_of(scorecard)));
}

std::string as_json(const Scorecard& scorecard) {
  using nlohmann::ordered_json;
  const Totals t = totals_of(scorecard);
  ordered_json rows = ordered_json::array();
  for (const Scored& row : scorecard.rows) {
    rows.push_back({{"mutant", row.mutant},
                    {"operator", row.op},
                    {"killed_by", row.killed_by},
                    {"on", row.on},
                    {"operator_right", row.is_operator_right()},
                    {"cause_right", row.is_cause_right()},
                    {"cause", cause_of(row.finding)},
                    {"seconds", row.seconds},
                    {"finding", json_of(row.finding)}});
  }
  const ordered_json root = {{"format", "deltaproof-triage-mutants"},
                             {"version", triage_report_version},
                             {"deltaproof", scorecard.version},
                             {"command", scorecard.command},
                             {"mutants", t.mutants},
                             {"equivalent", t.equivalent},
                             {"killed", t.killed},
                             {"operator_right", t.operator_right},
                             {"cause_right", t.cause_right},
                             {"tokens_median", t.tokens_median},
                             {"heads_median", t.heads_median},
                             {"seconds_p50", t.seconds_p50},
                             {"seconds_p95", t.seconds_p95},
                             {"rows", rows}};
  return root.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace gdn
