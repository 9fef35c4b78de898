// The report of `check` as JSON.
#include <nlohmann/json.hpp>

#include <cmath>

#include "ci/check_report.h"

namespace gdn {
namespace {

using nlohmann::ordered_json;

// JSON has no infinity and no NaN: they are spelled as strings.
ordered_json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

ordered_json json_of(const CheckRow& row) {
  return {{"invariant", row.invariant},         {"engine", row.engine},
          {"applied", row.applied()},           {"holds", row.holds},
          {"undecided", row.undecided},         {"suspicious", row.suspicious},
          {"engine_errors", row.engine_errors}, {"fails", row.fails},
          {"not_served", row.not_served},       {"worst_ratio", number(row.worst_ratio)}};
}

ordered_json json_of(const SavedFailure& failure) {
  return {{"invariant", failure.invariant},
          {"engine", failure.engine},
          {"verdict", name_of(failure.verdict.outcome)},
          {"detail", failure.verdict.detail},
          {"origin", failure.origin},
          {"steps", failure.steps},
          {"case", hash8(failure.smallest)},
          {"file", failure.file},
          {"replay", failure.replay}};
}

}  // namespace

std::string as_json(const CheckReport& report) {
  ordered_json rows = ordered_json::array(), failures = ordered_json::array();
  for (const CheckRow& row : report.rows) rows.push_back(json_of(row));
  for (const SavedFailure& failure : report.failures) failures.push_back(json_of(failure));
  ordered_json regimes = ordered_json::object();
  for (const auto& [name, cases] : report.regimes) regimes[name] = cases;
  const ordered_json root = {{"format", "deltaproof-check"},
                             {"version", check_report_version},
                             {"deltaproof", report.version},
                             {"command", report.command},
                             {"status", status_of(report)},
                             {"interrupted", report.interrupted},
                             {"seed", std::to_string(report.seed)},
                             {"drawn_cases", report.drawn},
                             {"corpus_cases", report.corpus},
                             {"engines", report.engines},
                             {"not_available", report.absent},
                             {"not_asked", report.not_asked},
                             {"never_applied", report.never_applied},
                             {"drawn_verdicts", report.drawn_verdicts},
                             {"drawn_undecided", report.drawn_undecided},
                             {"rows", rows},
                             {"regimes", regimes},
                             {"failures", failures}};
  return root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace gdn
