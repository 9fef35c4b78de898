// The report as JSON: the verdict and what history says. The records of the night are JSON already.
#include "ci/commands.h"
#include "ci/night/report_escaped.h"
#include "ci/night/report_words.h"
#include "invariants/harness/json_figure.h"

namespace gdn {
namespace {

using nlohmann::ordered_json;

ordered_json json_of(const Night& night) {
  ordered_json stages = ordered_json::array(), gaps = ordered_json::array();
  for (const NightStage& stage : night.stages) {
    stages.push_back({{"name", stage.name},
                      {"state", stage.state},
                      {"status", stage.status},
                      {"seconds", json_figure(stage.seconds)},
                      {"budget_seconds", json_figure(stage.budget_seconds)},
                      {"why", stage.why}});
  }
  for (const NightGap& gap : night.gaps) gaps.push_back({{"what", gap.what}, {"why", gap.why}});
  return {{"id", night.id},           {"commit", night.commit},
          {"subject", night.subject}, {"began", night.began},
          {"seed", night.seed},       {"complete", night.complete},
          {"status", night.status},   {"gpu", night.machine.gpu},
          {"stages", stages},         {"gaps", gaps}};
}

ordered_json json_of(const Trend& trend) {
  ordered_json points = ordered_json::array();
  for (const TrendPoint& point : trend.points) {
    points.push_back({{"night", point.night},
                      {"commit", point.commit},
                      {"p50", json_figure(point.p50)},
                      {"p99", json_figure(point.p99)},
                      {"worst", json_figure(point.worst)},
                      {"digest", point.digest}});
  }
  return {{"panel", trend.panel},
          {"engine", trend.engine},
          {"operator", trend.op},
          {"tensor", trend.tensor},
          {"points", points}};
}

ordered_json json_of(const BenchTrend& trend) {
  ordered_json points = ordered_json::array();
  for (const BenchPoint& point : trend.points) {
    points.push_back({{"night", point.night},
                      {"commit", point.commit},
                      {"median", json_figure(point.median)},
                      {"fastest", json_figure(point.fastest)},
                      {"slowest", json_figure(point.slowest)}});
  }
  return {{"machine", trend.machine},
          {"name", trend.name},
          {"unit", trend.unit},
          {"detectable_step", json_figure(trend.detectable_step)},
          {"points", points}};
}

ordered_json json_of(const KnownFinding& finding) {
  const NightFinding& latest = finding.latest;
  return {{"fingerprint", finding.fingerprint},
          {"state", finding.state},
          {"invariant", latest.invariant},
          {"operator", latest.op},
          {"engine", latest.engine},
          {"diagnosis", latest.diagnosis},
          {"detail", latest.detail},
          {"case", latest.case_text},
          {"replay", latest.replay},
          {"seen", latest.seen},
          {"nights", finding.nights},
          {"first_night", finding.first_night},
          {"first_commit", finding.first_commit},
          {"last_night", finding.last_night},
          {"last_commit", finding.last_commit},
          {"last_good_commit", finding.last_good_commit},
          {"is_back", finding.is_back}};
}

ordered_json json_of(const DriftChange& change) {
  return {{"kind", change.kind},
          {"panel", change.panel},
          {"engine", change.engine},
          {"operator", change.op},
          {"tensor", change.tensor},
          {"machine", change.machine},
          {"name", change.name},
          {"unit", change.unit},
          {"before", json_figure(change.before)},
          {"after", json_figure(change.after)},
          {"worst_before", json_figure(change.worst_before)},
          {"worst_after", json_figure(change.worst_after)},
          {"alarm", change.alarm},
          {"since_commit", change.since_commit},
          {"good_commit", change.good_commit},
          {"words", change.words}};
}

ordered_json json_of(const DatedChange& dated) {
  ordered_json json = json_of(dated.change);
  json["night"] = dated.night;
  return json;
}

template <class T>
ordered_json array_of(const std::vector<T>& all) {
  ordered_json array = ordered_json::array();
  for (const T& one : all) array.push_back(json_of(one));
  return array;
}

}  // namespace

std::string as_json(const NightReport& report) {
  const NightVerdict verdict = verdict_of(report);
  ordered_json first = ordered_json::array();
  for (const NightStep& step : verdict.first) {
    first.push_back({{"text", step.text}, {"command", step.command}});
  }
  return json_for_file({{"format", "deltaproof-night"},
                        {"version", night_report_version},
                        {"deltaproof", version_text()},
                        {"night", report.night.id},
                        {"outcome", name_of(verdict.outcome)},
                        {"sentence", verdict.sentence},
                        {"first", first},
                        {"findings", array_of(report.view.findings)},
                        {"changes", array_of(report.view.changes)},
                        {"moved_before", array_of(moved_before(report))},
                        {"trends", array_of(report.view.trends)},
                        {"benches", array_of(report.view.benches)},
                        {"nights", array_of(report.view.nights)}});
}

}  // namespace gdn
