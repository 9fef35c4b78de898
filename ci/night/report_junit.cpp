// The report as JUnit XML: a test case for each tensor and invariant of each engine, for each
// figure that moved, for each stage, and a skipped one for what was not judged.
#include <fmt/format.h>

#include <utility>

#include "ci/night/report_escaped.h"
#include "ci/night/report_words.h"

namespace gdn {
namespace {

struct JunitCase {
  std::string classname, name;
  double seconds = 0;
  std::vector<std::pair<std::string, std::string>> properties = {};
  std::string outcome = {};  // failure, error, skipped; empty: passed
  std::string type = {}, message = {}, text = {};
};

struct JunitSuite {
  std::string name;
  std::vector<JunitCase> cases;
};

std::string xml_of(const JunitCase& one) {
  std::string xml = fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\">\n",
                                for_xml(one.classname), for_xml(one.name), one.seconds);
  if (!one.properties.empty()) {
    xml += "      <properties>\n";
    for (const auto& [name, value] : one.properties) {
      xml += fmt::format("        <property name=\"{}\" value=\"{}\"/>\n", for_xml(name),
                         for_xml(value));
    }
    xml += "      </properties>\n";
  }
  if (one.outcome == "skipped") {
    xml += fmt::format("      <skipped message=\"{}\"/>\n", for_xml(one.message));
  } else if (!one.outcome.empty()) {
    xml += fmt::format("      <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n", one.outcome,
                       for_xml(one.type), for_xml(one.message), lines_for_xml(one.text));
  }
  return xml + "    </testcase>\n";
}

size_t count_of(const JunitSuite& suite, std::string_view outcome) {
  size_t count = 0;
  for (const JunitCase& one : suite.cases) count += one.outcome == outcome ? 1 : 0;
  return count;
}

JunitCase case_of(const NightTensor& tensor) {
  JunitCase one{fmt::format("{}.{}", tensor.op, tensor.tensor), tensor.engine};
  one.properties = {{"error_over_bound_worst", ratio_text(tensor.worst)},
                    {"error_over_bound_p99", ratio_text(tensor.p99)},
                    {"error_over_bound_p50", ratio_text(tensor.p50)},
                    {"samples", fmt::format("{}", tensor.samples)},
                    {"undecided_elements", fmt::format("{}", tensor.undecided)},
                    {"panel", tensor.panel}};
  if (tensor.samples == 0) {
    one.outcome = "skipped";
    one.message = "nothing of it could be judged";
  } else if (!(tensor.worst <= 1)) {
    one.outcome = "failure";
    one.type = "beyond_bound";
    one.message = fmt::format("error/bound {}: no rounding explains it", ratio_text(tensor.worst));
  }
  return one;
}

std::string replays_of(const NightReport& report, const NightInvariant& row) {
  std::string text;
  for (const KnownFinding& known : report.view.findings) {
    const NightFinding& finding = known.latest;
    if (known.last_night != report.night.id || finding.invariant != row.invariant ||
        finding.engine != row.engine) {
      continue;
    }
    text += fmt::format("{}\n{}\nreplay: {}\n", title_of(finding), finding.detail, finding.replay);
  }
  return text;
}

JunitCase case_of(const NightReport& report, const NightInvariant& row) {
  JunitCase one{row.invariant, row.engine};
  one.properties = {{"error_over_bound_worst", ratio_text(row.worst_ratio)}};
  for (const auto& [name, count] : {std::pair{"holds", row.holds},
                                    {"fails", row.fails},
                                    {"suspicious", row.suspicious},
                                    {"undecided", row.undecided},
                                    {"engine_errors", row.engine_errors},
                                    {"not_served", row.not_served}}) {
    one.properties.emplace_back(name, fmt::format("{}", count));
  }
  one.message = fmt::format(
      "{} hold, {} fail, {} suspicious, {}, {} undecided, {} not served", row.holds, row.fails,
      row.suspicious, counted(row.engine_errors, "engine error"), row.undecided, row.not_served);
  one.text = replays_of(report, row);
  if (row.fails + row.suspicious > 0) {
    one.outcome = "failure";
    one.type = row.fails > 0 ? "fails" : "suspicious";
  } else if (row.engine_errors > 0) {
    one.outcome = "error";
    one.type = "engine_error";
  } else if (row.holds == 0) {
    one.outcome = "skipped";
  }
  return one;
}

JunitCase case_of(const DriftChange& change) {
  JunitCase one = change.kind == "tensor"
                      ? JunitCase{fmt::format("{}.{}", change.op, change.tensor), change.engine}
                      : JunitCase{change.machine, change.name};
  one.properties = {{"before", ratio_text(change.before)},
                    {"after", ratio_text(change.after)},
                    {"since_commit", change.since_commit},
                    {"good_commit", change.good_commit}};
  if (!change.alarm) return one;
  one.outcome = "failure";
  one.type = "moved";
  one.message = change.words;
  return one;
}

JunitCase case_of(const NightStage& stage) {
  JunitCase one{"stage", stage.name, stage.seconds};
  one.properties = {{"budget_seconds", fmt::format("{:.3f}", stage.budget_seconds)},
                    {"exit_status", fmt::format("{}", stage.status)}};
  one.type = stage.state;
  one.message = stage.why;
  if (stage.state == "failed") {
    one.outcome = "failure";
  } else if (stage.state == "not_run") {
    one.outcome = "skipped";
  } else if (stage.state != "passed") {
    one.outcome = "error";
  }
  return one;
}

std::vector<JunitSuite> suites_of(const NightReport& report) {
  const Night& night = report.night;
  std::vector<JunitSuite> suites = {
      {"tensors", {}}, {"invariants", {}}, {"moved", {}}, {"stages", {}}, {"not judged", {}}};
  for (const NightTensor& tensor : night.tensors) suites[0].cases.push_back(case_of(tensor));
  for (const NightInvariant& row : night.invariants) {
    suites[1].cases.push_back(case_of(report, row));
  }
  for (const DriftChange& change : report.view.changes) suites[2].cases.push_back(case_of(change));
  for (const NightStage& stage : night.stages) suites[3].cases.push_back(case_of(stage));
  for (const NightGap& gap : gaps_of(night)) {
    JunitCase one{"gap", gap.what};
    one.outcome = "skipped";
    one.message = gap.why;
    suites[4].cases.push_back(one);
  }
  if (!night.complete) {
    JunitCase one{"gap", "the rest of the night"};
    one.outcome = "error";
    one.type = "incomplete";
    one.message = "the night was cut short";
    suites[4].cases.push_back(one);
  }
  return suites;
}

}  // namespace

std::string as_junit(const NightReport& report) {
  std::string body;
  size_t tests = 0, failures = 0, errors = 0, skipped = 0;
  for (const JunitSuite& suite : suites_of(report)) {
    if (suite.cases.empty()) continue;
    double seconds = 0;
    std::string cases;
    for (const JunitCase& one : suite.cases) {
      seconds += one.seconds;
      cases += xml_of(one);
    }
    body += fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" "
        "time=\"{:.3f}\" timestamp=\"{}\">\n{}  </testsuite>\n",
        suite.name, suite.cases.size(), count_of(suite, "failure"), count_of(suite, "error"),
        count_of(suite, "skipped"), seconds, for_xml(report.night.began), cases);
    tests += suite.cases.size();
    failures += count_of(suite, "failure");
    errors += count_of(suite, "error");
    skipped += count_of(suite, "skipped");
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"deltaproof\" tests=\"{}\" "
      "failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n{}</testsuites>\n",
      tests, failures, errors, skipped, body);
}

}  // namespace gdn
