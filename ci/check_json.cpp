// The report of `check` as JSON.
#include <nlohmann/json.hpp>

#include "ci/check_report.h"
#include "ci/ratios_json.h"
#include "invariants/harness/json_figure.h"

namespace gdn {
namespace {

using nlohmann::ordered_json;

ordered_json json_of(const CheckRow& row) {
  ordered_json ratios = ordered_json::object();
  for (const auto& [subject, counts] : row.ratios) {
    if (counts.samples() > 0) ratios[name_of(subject)] = json_of(counts);
  }
  return {{"invariant", row.invariant},
          {"engine", row.engine},
          {"applied", row.tally.judged()},
          {"holds", row.tally.holds},
          {"undecided", row.tally.undecided},
          {"suspicious", row.tally.suspicious},
          {"engine_errors", row.tally.engine_errors},
          {"fails", row.tally.fails},
          {"not_served", row.tally.not_applicable},
          {"tensors", row.tensors},
          {"worst_ratio", json_figure(row.worst_ratio)},
          {"ratios", ratios}};
}

ordered_json json_of(const SavedFailure& failure) {
  return {{"invariant", failure.invariant},
          {"engine", failure.engine},
          {"verdict", name_of(failure.verdict.outcome)},
          {"detail", failure.verdict.detail},
          {"indices", failure.indices},
          {"origin", failure.origin},
          {"steps", failure.steps},
          {"case", hash8(failure.smallest)},
          {"file", failure.file},
          {"text", print(failure.smallest)},
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
