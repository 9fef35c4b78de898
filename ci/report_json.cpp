// The report of `verify` as JSON.
#include <nlohmann/json.hpp>

#include "ci/ratios_json.h"
#include "ci/report.h"
#include "invariants/harness/json_figure.h"

namespace gdn {
namespace {

using nlohmann::ordered_json;

ordered_json json_of(const VerifyRow& row) {
  const Judgement& judged = row.judgement;
  return {{"source", judged.source},
          {"scope", name_of(row.scope)},
          {"operator", name_of(judged.op)},
          {"tensor", judged.tensor},
          {"tokens", judged.tokens},
          {"elements", judged.verdict.elements},
          {"undecided", judged.verdict.undecided},
          {"worst_ulp", json_figure(judged.verdict.worst_ulp)},
          {"worst_ratio", json_figure(judged.verdict.worst_ratio)},
          {"ratios", json_of(judged.ratios)},
          {"worst_token", judged.worst_token},
          {"worst_index", judged.verdict.worst_index},
          {"verdict", name_of(judged.verdict.outcome)},
          {"detail", judged.verdict.detail}};
}

ordered_json json_of(const VerifyReport& report) {
  ordered_json rows = ordered_json::array();
  for (const VerifyRow& row : report.rows) rows.push_back(json_of(row));
  return {{"path", report.path},
          {"format", report.format},
          {"source", report.source},
          {"capture_contract", report.capture_contract},
          {"capture_dialect", report.capture_dialect},
          {"engine", report.engine},
          {"engine_contract", report.engine_contract},
          {"rows", rows},
          {"notes", report.notes}};
}

}  // namespace

std::string as_json(const std::vector<VerifyReport>& reports, const RunFacts& facts) {
  const Tally tally = tally_of(reports);
  ordered_json files = ordered_json::array();
  for (const VerifyReport& report : reports) files.push_back(json_of(report));
  const ordered_json root = {
      {"format", "deltaproof-report"},
      {"version", report_version},
      {"deltaproof", facts.version},
      {"command", facts.command},
      {"engine", facts.engine},
      {"seconds", facts.seconds},
      {"complete", facts.complete},
      {"ended", facts.ended},
      {"status", facts.complete ? ordered_json(status_of(reports)) : nullptr},
      {"holds", tally.holds},
      {"fails", tally.fails},
      {"suspicious", tally.suspicious},
      {"undecided", tally.undecided},
      {"not_applicable", tally.not_applicable},
      {"engine_errors", tally.engine_errors},
      {"files", files}};
  return root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace gdn
