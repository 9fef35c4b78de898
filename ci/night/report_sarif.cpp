// The report as SARIF 2.1.0, for code hosts: a result for each finding. A host knows it again by
// its fingerprint, which depends on neither commit nor case.
#include <fmt/format.h>

#include <algorithm>

#include "ci/commands.h"
#include "ci/night/report_escaped.h"
#include "ci/night/report_words.h"

namespace gdn {
namespace {

using nlohmann::ordered_json;

constexpr const char* schema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

// A host shows a result beside a file: that of the claim. What is no invariant of ours has a name
// that may be no part of a path.
std::string file_of(const std::string& invariant) {
  const bool plain =
      !invariant.empty() &&
      invariant.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
  return plain ? fmt::format("invariants/{}.cpp", invariant) : "ci/nightly";
}

ordered_json result_of(const KnownFinding& finding, size_t rule) {
  const NightFinding& latest = finding.latest;
  const std::string text =
      fmt::format("{}. {} Replay: {}", title_of(latest), latest.detail, latest.replay);
  const ordered_json place = {
      {"physicalLocation",
       {{"artifactLocation", {{"uri", file_of(latest.invariant)}, {"uriBaseId", "%SRCROOT%"}}},
        {"region", {{"startLine", 1}}}}},
      {"logicalLocations",
       ordered_json::array(
           {{{"name", visible(latest.op.empty() ? "unknown" : latest.op)},
             {"fullyQualifiedName", visible(fmt::format("{}/{}", latest.engine, latest.op))},
             {"kind", "function"}}})}};
  return {{"ruleId", visible(latest.invariant)},
          {"ruleIndex", rule},
          {"level", "error"},
          {"kind", "fail"},
          {"message", {{"text", visible(text)}}},
          {"locations", ordered_json::array({place})},
          {"partialFingerprints", {{"deltaproofFinding/v1", visible(finding.fingerprint)}}},
          {"baselineState", finding.state == "new" ? "new" : "unchanged"},
          {"occurrenceCount", std::max<size_t>(latest.seen, 1)},
          {"properties",
           {{"engine", visible(latest.engine)},
            {"operator", visible(latest.op)},
            {"diagnosis", visible(latest.diagnosis)},
            {"replay", visible(latest.replay)},
            {"case", visible_lines(latest.case_text)},
            {"firstSeenCommit", visible(finding.first_commit)},
            {"lastSeenCommit", visible(finding.last_commit)},
            {"lastGoodCommit", visible(finding.last_good_commit)}}}};
}

size_t rule_of(ordered_json& rules, const std::string& invariant) {
  const std::string id = visible(invariant);
  for (size_t i = 0; i < rules.size(); ++i) {
    if (rules[i]["id"] == id) return i;
  }
  rules.push_back({{"id", id},
                   {"shortDescription", {{"text", fmt::format("The invariant {} fails", id)}}},
                   {"defaultConfiguration", {{"level", "error"}}}});
  return rules.size() - 1;
}

// What was not judged is no result, and no silence either.
ordered_json notifications_of(const Night& night) {
  ordered_json all = ordered_json::array();
  const auto add = [&](const std::string& text) {
    all.push_back({{"level", "warning"}, {"message", {{"text", visible(text)}}}});
  };
  for (const NightGap& gap : gaps_of(night))
    add(fmt::format("Not judged: {}: {}", gap.what, gap.why));
  for (const NightStage& stage : night.stages) {
    if (stage.state == "passed") continue;
    add(fmt::format("Stage {}: {}{}{}", stage.name, stage.state, stage.why.empty() ? "" : ": ",
                    stage.why));
  }
  if (!night.complete) add("The night was cut short");
  return all;
}

}  // namespace

std::string as_sarif(const NightReport& report) {
  const Night& night = report.night;
  ordered_json rules = ordered_json::array(), results = ordered_json::array();
  // A host closes what is no more there; one that does not know of baselines would open it again.
  for (const char* state : {"new", "known"}) {
    for (const KnownFinding* finding : findings_in(report, state)) {
      const size_t rule = rule_of(rules, finding->latest.invariant);
      results.push_back(result_of(*finding, rule));
    }
  }
  const ordered_json driver = {{"name", "deltaproof"},
                               {"version", version_text().substr(version_text().find(' ') + 1)},
                               {"rules", rules}};
  // 2, 3 and 5 say that the night did not do its work; 1 and 4 are about the engines.
  const bool worked = night.complete && night.status != 2 && night.status != 3 && night.status != 5;
  const ordered_json invocation = {{"executionSuccessful", worked},
                                   {"exitCode", night.status},
                                   {"commandLine", visible(night.command)},
                                   {"startTimeUtc", visible(night.began)},
                                   {"toolExecutionNotifications", notifications_of(night)}};
  const ordered_json run = {{"tool", {{"driver", driver}}},
                            {"automationDetails", {{"id", "deltaproof/nightly/"}}},
                            {"invocations", ordered_json::array({invocation})},
                            {"columnKind", "utf16CodeUnits"},
                            {"results", results},
                            {"properties", {{"commit", visible(night.commit)}}}};
  return json_for_file(
      {{"$schema", schema}, {"version", "2.1.0"}, {"runs", ordered_json::array({run})}});
}

}  // namespace gdn
