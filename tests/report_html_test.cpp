// The page of a night as a document: it nests, its links lead somewhere, its tables and charts have
// words, and texts of others are text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "ci/night/page_files.h"
#include "ci/night/report.h"
#include "ci/night/report_escaped.h"
#include "tests/hostile_night.h"
#include "tests/markup.h"
#include "tests/program_run.h"

namespace gdn {
namespace {

using testing::HasSubstr;
using testing::Not;

Markup page_of(const Night& night) {
  Markup page = read_html(as_html(report_of(night)));
  EXPECT_EQ(page.why, "");
  return page;
}

std::multiset<std::string> values_of(const Markup& page, const std::string& attribute) {
  std::multiset<std::string> values;
  for (const MarkupElement& element : page.elements) {
    const auto found = element.attributes.find(attribute);
    if (found != element.attributes.end()) values.insert(found->second);
  }
  return values;
}

// What is true of the page of any night.
void expect_sound(const Markup& page) {
  const std::multiset<std::string> ids = values_of(page, "id");
  for (const std::string& id : ids) EXPECT_EQ(ids.count(id), 1U) << id;
  EXPECT_GT(values_of(page, "href").size(), 5U);
  for (const std::string& href : values_of(page, "href")) {
    ASSERT_TRUE(href.starts_with("#")) << href << ": a page asks no one for anything";
    EXPECT_EQ(ids.count(href.substr(1)), 1U) << href;
  }
  EXPECT_GT(values_of(page, "data-copies").size(), 0U);
  for (const std::string& copied : values_of(page, "data-copies")) {
    EXPECT_EQ(ids.count(copied), 1U) << copied;
  }
  for (const char* attribute : {"src", "srcset", "action", "style", "onclick", "onerror"}) {
    EXPECT_EQ(values_of(page, attribute).size(), 0U) << attribute;
  }
  for (const char* landmark : {"header", "nav", "main", "footer", "h1", "title", "style"}) {
    EXPECT_EQ(page.named(landmark).size(), 1U) << landmark;
  }
  EXPECT_EQ(page.named("script").size(), 3U) << "the figures, the library and the page's own";
  for (const char* other : {"img", "iframe", "link", "b", "base", "object"}) {
    EXPECT_EQ(page.named(other).size(), 0U) << other;
  }
}

void expect_accessible(const Markup& page) {
  int before = 0;
  for (const MarkupElement& element : page.elements) {
    if (element.name.size() != 2 || element.name[0] != 'h' || element.name == "hr") continue;
    const int level = element.name[1] - '0';
    if (level < 1 || level > 6) continue;
    EXPECT_LE(level, before + 1) << element.text << ": a level of headings is left out";
    EXPECT_NE(element.text, "");
    before = level;
  }
  EXPECT_EQ(page.named("table").size(), page.named("caption").size());
  for (const MarkupElement* header : page.named("th")) {
    EXPECT_EQ(header->attributes.count("scope"), 1U) << header->text;
    EXPECT_NE(header->text, "");
  }
  for (const MarkupElement* button : page.named("button")) {
    EXPECT_THAT(button->attributes.at("aria-label"), HasSubstr("Copy"));
  }
}

std::vector<std::string> texts_of(const Markup& page, const std::string& name) {
  std::vector<std::string> texts;
  for (const MarkupElement* element : page.named(name)) texts.push_back(element->text);
  return texts;
}

TEST(ReportHtml, IsSoundAndAccessible) {
  const Markup page = page_of(example_night());
  expect_sound(page);
  expect_accessible(page);
}

// The night, and before it one that was the same.
NightReport two_nights(const Night& night) {
  NightReport report = report_of(night);
  Night before = night;
  before.id += " before";
  const NightReport other = report_of(before);
  report.view.nights.insert(report.view.nights.begin(), before);
  for (size_t i = 0; i < report.view.trends.size(); ++i) {
    std::vector<TrendPoint>& points = report.view.trends[i].points;
    points.insert(points.begin(), other.view.trends[i].points.front());
  }
  for (size_t i = 0; i < report.view.benches.size(); ++i) {
    std::vector<BenchPoint>& points = report.view.benches[i].points;
    points.insert(points.begin(), other.view.benches[i].points.front());
  }
  return report;
}

TEST(ReportHtml, EveryChartHasItsFiguresAndItsWords) {
  const Markup page = read_html(as_html(two_nights(example_night())));
  ASSERT_EQ(page.why, "");
  const auto figures = nlohmann::json::parse(page.named("script").front()->text);
  ASSERT_EQ(page.named("canvas").size(), figures.size());
  ASSERT_EQ(figures.size(), 3U) << "a histogram, a trend and one of speed";
  for (const MarkupElement* canvas : page.named("canvas")) {
    EXPECT_TRUE(figures.contains(canvas->attributes.at("id")));
    EXPECT_EQ(canvas->attributes.at("role"), "img");
    EXPECT_GT(canvas->attributes.at("aria-label").size(), 20U);
  }
}

TEST(ReportHtml, TextsOfOthersAreText) {
  const Markup page = read_html(as_html(two_nights(hostile_night())));
  ASSERT_EQ(page.why, "");
  expect_sound(page);
  expect_accessible(page);
  // Each is there, letter by letter, as what it is.
  const std::string all = page.named("body").front()->text;
  for (const char* who :
       {"commit", "subject",   "command", "seed",     "cpu",    "gpu",       "stage",
        "what",   "why",       "engine",  "operator", "tensor", "invariant", "machine",
        "bench",  "diagnosis", "detail",  "mutant",   "killer", "target",    "covered"}) {
    const std::string shown = visible(hostile(who));
    // Commits are shown by their first digits, of which the rest of a text is no part.
    EXPECT_THAT(all, HasSubstr(shown.substr(0, 9))) << who;
    if (std::string(who) == "commit") continue;
    EXPECT_THAT(all, HasSubstr(shown)) << who;
  }
  EXPECT_THAT(texts_of(page, "code"), testing::Contains(visible(hostile("replay"))));
  EXPECT_THAT(texts_of(page, "code"), testing::Contains(visible_lines(hostile("case"))));
}

TEST(ReportHtml, OneNightIsNoTrend) {
  const Markup page = page_of(example_night());
  for (const MarkupElement* canvas : page.named("canvas")) {
    EXPECT_THAT(canvas->attributes.at("id"), testing::EndsWith("-histogram"));
  }
  EXPECT_EQ(page.named("canvas").size(), 1U);
}

TEST(ReportHtml, ABrowserRunsTheTwoScriptsAndNothingElse) {
  const Markup page = page_of(example_night());
  std::string policy;
  for (const MarkupElement* meta : page.named("meta")) {
    const auto found = meta->attributes.find("http-equiv");
    if (found != meta->attributes.end()) policy = meta->attributes.at("content");
  }
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy, HasSubstr("script-src 'sha256-"));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
}

// By another program's SHA-256: a hash of other bytes would leave the page without its style.
TEST(ReportHtml, ThePolicyNamesTheseVeryBytes) {
  const std::pair<std::string_view, std::string_view> parts[] = {
      {page_css(), page_css_source()},
      {page_js(), page_js_source()},
      {chart_library(), chart_library_source()}};
  for (const auto& [bytes, source] : parts) {
    const std::string path = testing::TempDir() + "part_of_the_page";
    std::ofstream(path, std::ios::binary) << bytes;
    const Ran ran =
        run_line(std::string(PYTHON) +
                 " -c \"import base64, hashlib, sys; print(base64.b64encode("
                 "hashlib.sha256(open(sys.argv[1], 'rb').read()).digest()).decode())\" " +
                 path);
    EXPECT_EQ("'sha256-" + ran.output, std::string(source).substr(0, source.size() - 1) + "\n");
    std::filesystem::remove(path);
  }
}

TEST(ReportHtml, WhatWasNotJudgedIsNoPass) {
  Night night = example_night();
  night.findings.clear();
  night.invariants = {{"twin", "layer_within_bound", 10, 0, 0, 0, 0, 0, 0.5}};
  night.tensors.clear();
  night.stages = {{"oracles", "passed", 0, 1, 60, ""}};
  night.status = 0;
  night.gaps.clear();
  EXPECT_THAT(texts_of(page_of(night), "h1").front(),
              HasSubstr("Everything that was judged holds"));
  night.gaps = {{"engine cuda", "no GPU can be used"}};
  const Markup with_gap = page_of(night);
  EXPECT_THAT(texts_of(with_gap, "h1").front(),
              testing::AllOf(HasSubstr("holds in part"), HasSubstr("engine cuda was not judged")));
  EXPECT_THAT(texts_of(with_gap, "td"), testing::Contains("no GPU can be used"));
  night.gaps.clear();
  night.stages.push_back({"bench", "not_run", 0, 0, 60, "no GPU can be used"});
  EXPECT_THAT(texts_of(page_of(night), "h1").front(), HasSubstr("1 stage did not run"));
  night.stages.pop_back();
  night.complete = false;
  EXPECT_THAT(texts_of(page_of(night), "h1").front(), HasSubstr("The night was cut short"));
  night.complete = true;
  night.invariants.clear();
  EXPECT_THAT(texts_of(page_of(night), "h1").front(), HasSubstr("Nothing was judged"));
}

TEST(ReportHtml, AnEngineWithoutAFigureIsNotJudgedInTheHeatMap) {
  Night night = example_night();
  NightTensor other = night.tensors.front();
  other.engine = "twin";
  other.tensor = "S";
  other.worst = 0.25;
  night.tensors.push_back(other);
  const std::vector<std::string> cells = texts_of(page_of(night), "td");
  EXPECT_EQ(std::count(cells.begin(), cells.end(), "not judged"), 2 + 1) << "two cells and the gap";
  EXPECT_THAT(cells, testing::Contains("0.25 7 undecided"));
  EXPECT_THAT(cells, testing::Contains("inf beyond the bound 7 undecided"));
}

}  // namespace
}  // namespace gdn
