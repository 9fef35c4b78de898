// A night as Markdown, JUnit XML, SARIF and JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ci/night/report.h"
#include "ci/night/report_escaped.h"
#include "tests/hostile_night.h"
#include "tests/markup.h"

namespace gdn {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

const MarkupElement* testcase_named(const Markup& xml, const std::string& classname,
                                    const std::string& name) {
  for (const MarkupElement* one : xml.named("testcase")) {
    if (one->attributes.at("classname") == classname && one->attributes.at("name") == name) {
      return one;
    }
  }
  return nullptr;
}

// Is an element of that kind within the test case?
bool has(const Markup& xml, const MarkupElement* testcase, const std::string& kind) {
  const auto index = static_cast<size_t>(testcase - xml.elements.data());
  for (const MarkupElement* one : xml.named(kind)) {
    if (std::count(one->within.begin(), one->within.end(), index) > 0) return true;
  }
  return false;
}

TEST(ReportJunit, HasACaseForEachFigureAndCountsThem) {
  Night night = example_night();
  NightTensor good = night.tensors.front();
  good.engine = "twin";
  good.worst = 0.5;
  night.tensors.push_back(good);
  night.tensors.push_back(good);
  night.tensors.back().engine = "simt";
  night.tensors.back().samples = 0;
  night.stages.push_back({"sanitizer", "not_run", 0, 0, 60, "no GPU can be used"});
  const Markup xml = read_xml(as_junit(report_of(night)));
  ASSERT_EQ(xml.why, "");
  const MarkupElement* twin = testcase_named(xml, "delta_rule.O", "twin");
  ASSERT_NE(twin, nullptr);
  EXPECT_FALSE(has(xml, twin, "failure") || has(xml, twin, "skipped"));
  EXPECT_TRUE(has(xml, testcase_named(xml, "delta_rule.O", visible(hostile_text)), "failure"));
  EXPECT_TRUE(has(xml, testcase_named(xml, "delta_rule.O", "simt"), "skipped"));
  const MarkupElement* invariant = testcase_named(xml, "layer_within_bound", "twin");
  ASSERT_NE(invariant, nullptr);
  EXPECT_TRUE(has(xml, invariant, "failure"));
  EXPECT_THAT(invariant->text, HasSubstr("replay: deltaproof replay x.case"));
  EXPECT_TRUE(has(xml, testcase_named(xml, "stage", "sanitizer"), "skipped"));
  EXPECT_TRUE(has(xml, testcase_named(xml, "stage", "bench"), "error"));
  EXPECT_TRUE(has(xml, testcase_named(xml, "gap", "engine cuda"), "skipped"));
  const MarkupElement& all = xml.elements.front();
  EXPECT_EQ(all.name, "testsuites");
  EXPECT_EQ(all.attributes.at("tests"), std::to_string(xml.named("testcase").size()));
  EXPECT_EQ(all.attributes.at("failures"), std::to_string(xml.named("failure").size()));
  EXPECT_EQ(all.attributes.at("errors"), std::to_string(xml.named("error").size()));
  EXPECT_EQ(all.attributes.at("skipped"), std::to_string(xml.named("skipped").size()));
}

TEST(ReportJunit, HasErrorOverBoundAsAProperty) {
  Night night = example_night();
  night.tensors.front().worst = 0.125;
  const Markup xml = read_xml(as_junit(report_of(night)));
  ASSERT_EQ(xml.why, "");
  bool found = false;
  for (const MarkupElement* property : xml.named("property")) {
    found = found || (property->attributes.at("name") == "error_over_bound_worst" &&
                      property->attributes.at("value") == "0.125");
  }
  EXPECT_TRUE(found);
}

TEST(ReportJunit, TextsOfOthersAreText) {
  const std::string text = as_junit(report_of(hostile_night()));
  const Markup xml = read_xml(text);
  ASSERT_EQ(xml.why, "");
  EXPECT_EQ(xml.named("img").size() + xml.named("script").size() + xml.named("b").size(), 0U);
  EXPECT_NE(testcase_named(xml, "gap", visible(hostile("what"))), nullptr);
  EXPECT_EQ(visible_lines(text), text) << "XML 1.0 has no place for these characters";
}

json sarif_of(const NightReport& report) { return json::parse(as_sarif(report)); }

TEST(ReportSarif, HasAResultForEachFindingWithItsFingerprint) {
  Night night = example_night();
  night.findings.push_back(night.findings.front());
  night.findings.back().engine = "simt";
  const json sarif = sarif_of(report_of(night));
  EXPECT_EQ(sarif["version"], "2.1.0");
  const json& run = sarif["runs"][0];
  ASSERT_EQ(run["results"].size(), 2U);
  EXPECT_EQ(run["tool"]["driver"]["rules"].size(), 1U) << "one rule for each invariant";
  for (size_t i = 0; i < 2; ++i) {
    const json& result = run["results"][i];
    EXPECT_EQ(result["partialFingerprints"]["deltaproofFinding/v1"],
              fingerprint(night.findings[i]));
    EXPECT_EQ(result["ruleId"], run["tool"]["driver"]["rules"][0]["id"]);
    EXPECT_EQ(result["baselineState"], "new");
    EXPECT_EQ(result["level"], "error");
    EXPECT_EQ(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
              "invariants/layer_within_bound.cpp");
    EXPECT_THAT(result["message"]["text"].get<std::string>(),
                HasSubstr("Replay: deltaproof replay x.case"));
  }
}

TEST(ReportSarif, AGroupIsOneResultHoweverOftenItWasSeen) {
  Night night = example_night();
  night.findings.push_back(night.findings.front());
  night.findings.back().detail = "another case of the same";
  const json results = sarif_of(report_of(night))["runs"][0]["results"];
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0]["occurrenceCount"], 2 * night.findings.front().seen);
}

TEST(ReportSarif, AFingerprintIsOfTheGroupAlone) {
  Night night = example_night();
  const json before = sarif_of(report_of(night));
  night.commit = std::string(40, 'f');
  night.id = "another";
  night.findings.front().detail = "other words";
  night.findings.front().case_text = "another case";
  night.findings.front().replay = "another command";
  night.findings.front().seen = 77;
  const json after = sarif_of(report_of(night));
  EXPECT_EQ(before["runs"][0]["results"][0]["partialFingerprints"],
            after["runs"][0]["results"][0]["partialFingerprints"]);
  night.findings.front().diagnosis = "another cause";
  EXPECT_NE(before["runs"][0]["results"][0]["partialFingerprints"],
            sarif_of(report_of(night))["runs"][0]["results"][0]["partialFingerprints"]);
}

TEST(ReportSarif, WhatIsFixedIsLeftOutAndWhatWasNotJudgedIsSaid) {
  NightReport report = report_of(example_night());
  report.view.findings.push_back(report.view.findings.front());
  report.view.findings.front().state = "known";
  report.view.findings.back().state = "fixed";
  const json run = sarif_of(report)["runs"][0];
  ASSERT_EQ(run["results"].size(), 1U);
  EXPECT_EQ(run["results"][0]["baselineState"], "unchanged");
  EXPECT_THAT(run["invocations"][0]["toolExecutionNotifications"].dump(),
              testing::AllOf(HasSubstr("engine cuda"), HasSubstr("bench: timed_out")));
}

TEST(ReportSarif, AnInvariantsNameIsNoPathOfItsOwn) {
  Night night = example_night();
  night.findings.front().invariant = "../../etc/passwd";
  EXPECT_EQ(sarif_of(report_of(night))["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
                                      ["artifactLocation"]["uri"],
            "ci/nightly");
}

TEST(ReportJson, IsReadWhateverTheTextsAre) {
  const json night = json::parse(as_json(report_of(hostile_night())));
  EXPECT_EQ(night["format"], "deltaproof-night");
  EXPECT_EQ(night["outcome"], "fails");
  EXPECT_EQ(night["findings"].size(), 1U);
  EXPECT_EQ(json::parse(as_sarif(report_of(hostile_night())))["runs"].size(), 1U);
}

// A document whose every line is one of ours: a text of others that begins one would be a heading,
// an item or the end of a block.
void expect_no_line_of_others(const std::string& markdown) {
  EXPECT_THAT(markdown, Not(HasSubstr("\n# head")));
  EXPECT_THAT(markdown, Not(HasSubstr("\n* item")));
  EXPECT_THAT(markdown, Not(HasSubstr("\x1b")));
  EXPECT_THAT(markdown, Not(HasSubstr("\xe2\x80\xae")));
  EXPECT_EQ(markdown.find('\0'), std::string::npos);
}

// Without the spans of code, each of which ends with as many backticks as it begins with.
std::string without_code(const std::string& markdown) {
  std::string out;
  for (size_t at = 0; at < markdown.size();) {
    if (markdown[at] == '\\') {
      out += markdown.substr(at, 2);
      at += 2;
    } else if (markdown[at] != '`') {
      out += markdown[at++];
    } else {
      const size_t after = std::min(markdown.find_first_not_of('`', at), markdown.size());
      const std::string fence = markdown.substr(at, after - at);
      size_t end = markdown.find(fence, after);
      while (end < markdown.size() && markdown[end + fence.size()] == '`') {
        end = markdown.find(fence, markdown.find_first_not_of('`', end));
      }
      EXPECT_LT(end, markdown.size()) << "a span of code without an end";
      at = std::min(end, markdown.size() - fence.size()) + fence.size();
    }
  }
  return out;
}

TEST(ReportMarkdown, TextsOfOthersAreText) {
  NightReport report = report_of(hostile_night());
  expect_no_line_of_others(as_summary(report));
  const std::string prose = without_code(as_summary(report));
  EXPECT_THAT(prose, Not(HasSubstr("<")));
  EXPECT_THAT(prose, HasSubstr("\\[l\\]("));
  EXPECT_THAT(prose, HasSubstr("What to do first"));
  // The case is code: its lines stand within a fence that is longer than any of its own.
  const std::string findings = as_findings(report);
  const size_t fence = findings.find("````text\ncase");
  ASSERT_NE(fence, std::string::npos);
  const size_t end = findings.find("\n````\n", fence + 8);
  ASSERT_NE(end, std::string::npos);
  expect_no_line_of_others(findings.substr(0, fence) + findings.substr(end));
}

TEST(ReportMarkdown, ATableHasAsManyCellsAsItsHeader) {
  const std::string summary = as_summary(report_of(hostile_night()));
  size_t columns = 0, tables = 0;
  std::stringstream lines(summary);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("|")) {
      columns = 0;
      continue;
    }
    size_t bars = 0;
    for (size_t i = 0; i < line.size(); ++i) {
      bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\') ? 1 : 0;
    }
    tables += columns == 0 ? 1 : 0;
    if (columns == 0) columns = bars;
    EXPECT_EQ(bars, columns) << line;
  }
  EXPECT_GE(tables, 4U);
}

// Not that something is wrong: no finding.
TEST(ReportJson, OfANightThatJudgedNothingNothingIsKnown) {
  Night night;
  night.complete = true;
  night.status = 1;
  const json report = json::parse(as_json(report_of(night)));
  EXPECT_EQ(report["outcome"], "not known");
  EXPECT_THAT(report["sentence"].get<std::string>(), HasSubstr("nothing is known"));
}

// A night that was too short leaves out a hundred claims for one reason: one line, not a hundred.
TEST(ReportJson, WhatWasNotJudgedForOneReasonIsOneStep) {
  Night night = example_night();
  night.findings.clear();
  night.stages.clear();
  night.gaps = {{"engine cuda", "no GPU"}};
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    night.gaps.push_back({std::string("invariant ") + name, "it applied to no case"});
  }
  night.status = 0;
  const json report = json::parse(as_json(report_of(night)));
  EXPECT_EQ(report["outcome"], "holds in part");
  // What makes it so stands first.
  EXPECT_THAT(report["sentence"].get<std::string>(),
              testing::StartsWith("What was judged holds, but not everything was judged: 6 parts"));
  ASSERT_EQ(report["first"].size(), 2U);
  EXPECT_EQ(report["first"][0]["command"], "./ci/doctor");
  EXPECT_EQ(report["first"][1]["text"],
            "Not judged: invariant a, invariant b and 3 more: it applied to no case.");
}

TEST(ReportMarkdown, SaysWhatToDoFirstWithItsCommand) {
  const std::string summary = as_summary(report_of(example_night()));
  EXPECT_THAT(summary, HasSubstr("# deltaproof: fails"));
  EXPECT_THAT(summary, HasSubstr("`deltaproof replay x.case`"));
  EXPECT_THAT(summary, HasSubstr("| delta_rule | O | inf |"));
  EXPECT_THAT(as_findings(report_of(example_night())),
              HasSubstr("Replay:\n\n```text\ndeltaproof replay x.case\n```"));
}

}  // namespace
}  // namespace gdn
