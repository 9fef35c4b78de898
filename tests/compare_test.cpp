// Two runs compared: the test's probabilities against ones counted by hand, reports written by hand
// with a shift that is known, and reports that are none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "ci/compare_statistics.h"
#include "reference/bound.h"
#include "reference/rng.h"
#include "tests/program_run.h"

namespace gdn {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// Shares of at most 1 are mixed once a step of a path, four roundings each.
double rounding_of(size_t n, size_t m) { return 4 * static_cast<double>(n + m) * 0x1p-53; }

// Of the C(6,3) = 20 orders of 3 and 3 samples one keeps all of A below all of B.
TEST(CompareStatistics, SmallProbabilitiesAreThoseCountedByHand) {
  EXPECT_NEAR(smirnov_p(1, 3, 3), 1.0 / 20, rounding_of(3, 3));
  // Among 2 and 1: A A B, A B A and B A A; 2/2 - 0 is reached by the first alone, 1/2 by two.
  EXPECT_NEAR(smirnov_p(1, 2, 1), 1.0 / 3, rounding_of(2, 1));
  EXPECT_NEAR(smirnov_p(0.5, 2, 1), 2.0 / 3, rounding_of(2, 1));
  EXPECT_EQ(smirnov_p(0, 5, 5), 1);
}

// Hodges: for equal sizes P(distance >= k/n) = C(2n, n+k) / C(2n, n).
TEST(CompareStatistics, EqualSizesFollowTheBinomialFormula) {
  constexpr size_t n = 200, k = 30;
  double ratio = 1;
  for (size_t i = 1; i <= k; ++i) {
    ratio *= static_cast<double>(n - k + i) / static_cast<double>(n + i);
  }
  // The product has fewer roundings than the paths.
  EXPECT_NEAR(smirnov_p(static_cast<double>(k) / n, n, n), ratio, 2 * rounding_of(n, n));
}

// That formula is a product of k factors 1 - k/(n+i), each of them between the first and the last:
// so is the limit, just above exact_product_max, as what was counted just below it.
TEST(CompareStatistics, TheLimitTakesOverWithoutAStep) {
  constexpr double n = 2000, k = 100;
  const double least = std::pow(1 - k / (n + 1), k), most = std::pow(1 - k / (n + k), k);
  for (const size_t size : {2000, 2001}) {
    EXPECT_GT(smirnov_p(k / n, size, size), least) << size;
    EXPECT_LT(smirnov_p(k / n, size, size), most) << size;
  }
}

TEST(CompareStatistics, HolmMultipliesTheSmallestByTheirNumber) {
  EXPECT_THAT(holm({0.04, 0.01, 0.03}),
              testing::ElementsAre(testing::DoubleEq(0.06), testing::DoubleEq(0.03),
                                   testing::DoubleEq(0.06)));
  EXPECT_TRUE(holm({}).empty());
}

RatioCounts counted(std::initializer_list<double> ratios) {
  RatioCounts counts;
  for (const double ratio : ratios) counts.add(ratio);
  return counts;
}

TEST(CompareStatistics, BinsAreWholePowersOfTwoAndTheirEnds) {
  const RatioCounts counts = counted({0, 0.5, 0.999, 1, 0x1p-200, infinity});
  EXPECT_EQ(counts.samples(), 6U);
  EXPECT_EQ(counts.zero, 1U);
  EXPECT_EQ(counts.infinite, 1U);
  EXPECT_EQ(counts.powers_of_two.at(-1), 2U);
  EXPECT_EQ(counts.powers_of_two.at(0), 1U);
  EXPECT_EQ(counts.powers_of_two.at(RatioCounts::exponent_min), 1U);
  EXPECT_EQ(quantile(counts, 0), RatioCounts::exponent_min - 1);
  EXPECT_EQ(quantile(counts, 0.5), -1);
  EXPECT_EQ(quantile(counts, 1), RatioCounts::exponent_max + 1);
}

// Samples of one distribution, a thousand times over: alarms stay below the level that was asked.
TEST(CompareStatistics, SamplesOfOneDistributionSeldomDiffer) {
  constexpr int trials = 1000;
  constexpr double level = 0.05;
  int alarms = 0;
  for (uint64_t trial = 0; trial < trials; ++trial) {
    Rng rng(trial);
    RatioCounts a, b;
    for (int i = 0; i < 60; ++i) (i % 3 == 0 ? a : b).add(rng.unit() * rng.unit());
    alarms += moved(a, b).up.p <= level;
  }
  // Three standard deviations of a thousand trials above the level.
  EXPECT_LE(alarms, trials * level + 3 * std::sqrt(trials * level * (1 - level)));
}

// A report of verify of one capture with one row, whose tokens' worst ratios are 2^(e + shift) for
// e from -8 to -1, ten of each.
json report_of(int shift, const std::string& engine = "twin") {
  json powers = json::object();
  for (int e = -8; e < 0; ++e) powers[std::to_string(e + shift)] = 10;
  const json ratios = {{"zero", 3}, {"powers_of_two", powers}, {"infinite", 0}};
  const json row = {{"source", engine}, {"scope", "local"},   {"operator", "delta_rule"},
                    {"tensor", "S"},    {"verdict", "holds"}, {"ratios", ratios}};
  const json file = {{"path", "corpus/x.safetensors"}, {"engine", engine}, {"rows", {row}}};
  return {{"format", "deltaproof-report"},
          {"version", 2},
          {"deltaproof", "deltaproof 0"},
          {"engine", engine},
          {"complete", true},
          {"files", {file}}};
}

class Compare : public ProgramTest {
 protected:
  Ran compare(const json& before, const json& after, const std::string& options = "") const {
    write("before.json", before.dump());
    write("after.json", after.dump());
    return run("compare " + path("before.json") + " " + path("after.json") + options);
  }
};

TEST_F(Compare, IdenticalRunsNeverDiffer) {
  const Ran ran = compare(report_of(0), report_of(0), " --level 0.5");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("0 of 1 distributions moved up"));
}

TEST_F(Compare, AKnownShiftIsWorseOneWayAndBetterTheOther) {
  const Ran up = compare(report_of(0), report_of(3, "simt"), " --json " + path("c.json"));
  EXPECT_EQ(up.status, 1) << up.output;
  EXPECT_THAT(up.output, HasSubstr("2^-5 -> 2^-2"));
  const json comparison = json::parse(content("c.json"));
  EXPECT_EQ(comparison.at("rows").at(0).at("change"), "worse");
  EXPECT_EQ(comparison.at("rows").at(0).at("source"), "engine");
  // Of 83 samples each, 3 in zero and 10 in each of eight bins, 30 more lie below.
  EXPECT_DOUBLE_EQ(comparison.at("rows").at(0).at("distance_up"), 30.0 / 83);
  EXPECT_EQ(comparison.at("rows").at(0).at("distance_down"), 0);
  const Ran down = compare(report_of(3), report_of(0), " --markdown " + path("c.md"));
  EXPECT_EQ(down.status, 0) << down.output;
  EXPECT_THAT(content("c.md"), HasSubstr("| better |"));
}

TEST_F(Compare, AFewTokensAreNoEvidence) {
  json before = report_of(0), after = report_of(0);
  before["files"][0]["rows"][0]["ratios"]["powers_of_two"] = {{"-4", 2}};
  after["files"][0]["rows"][0]["ratios"]["powers_of_two"] = {{"-1", 2}};
  EXPECT_EQ(compare(before, after).status, 0);
}

TEST_F(Compare, WhatFailsNowIsWorseWhateverItsDistribution) {
  json after = report_of(0);
  after["files"][0]["rows"][0]["verdict"] = "fails";
  const Ran ran = compare(report_of(0), after);
  EXPECT_EQ(ran.status, 1) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("fails now: engine local delta_rule S"));
  EXPECT_EQ(compare(after, report_of(0)).status, 0);
}

TEST_F(Compare, WhatIsNoPairOfReportsIsStatus2AndOneLine) {
  const json good = report_of(0);
  json other = good, older = good, elsewhere = good, negative = good, kind = good;
  other["format"] = "deltaproof-check";
  older["version"] = 1;
  elsewhere["files"][0]["path"] = "corpus/y.safetensors";
  negative["files"][0]["rows"][0]["ratios"]["zero"] = -1;
  kind["format"] = "deltaproof-matrix";
  for (const json& bad : {other, older, elsewhere, negative, kind, json::array(), json(7)}) {
    const Ran ran = compare(good, bad);
    EXPECT_EQ(ran.status, 2) << ran.output;
    EXPECT_THAT(ran.output, HasSubstr("after.json"));
    EXPECT_EQ(std::count(ran.output.begin(), ran.output.end(), '\n'), 1) << ran.output;
  }
  const std::string whole = good.dump();
  for (const size_t length : {size_t{0}, whole.size() / 2, whole.size() - 1}) {
    write("cut.json", whole.substr(0, length));
    const Ran ran = run("compare " + path("before.json") + " " + path("cut.json"));
    EXPECT_EQ(ran.status, 2) << ran.output;
    EXPECT_THAT(ran.output, HasSubstr("cut.json: not JSON, or cut short"));
  }
  EXPECT_EQ(run("compare " + path("before.json") + " " + path("absent.json")).status, 2);
}

TEST_F(Compare, ReportsOfVerifyAreRead) {
  const std::string capture =
      std::string(SOURCE_DIR) + "/corpus/oracle/gdn_tiny_decode.safetensors";
  for (const char* engine : {"twin", "mutant:error_before_decay"}) {
    const Ran ran = run("verify " + capture + " --engine " + engine + " --json " +
                        path(std::string(engine) == "twin" ? "twin.json" : "mutant.json"));
    ASSERT_LE(ran.status, 1) << ran.output;
  }
  EXPECT_EQ(run("compare " + path("twin.json") + " " + path("twin.json")).status, 0);
  const Ran ran = run("compare " + path("twin.json") + " " + path("mutant.json"));
  EXPECT_EQ(ran.status, 1) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("fails now: engine local delta_rule S"));
}

TEST_F(Compare, ReportsOfCheckAreReadByOperator) {
  for (const char* engine : {"twin", "mutant:decay_held_in_bf16"}) {
    const bool right = std::string(engine) == "twin";
    const Ran ran =
        run("check --invariant operators_within_bound --cases 80 --engine " + std::string(engine) +
            " --out " + path("out") + " --json " + path(right ? "right.json" : "wrong.json"));
    ASSERT_EQ(ran.status, right ? 0 : 1) << ran.output;
  }
  EXPECT_EQ(run("compare " + path("right.json") + " " + path("right.json")).status, 0);
  const Ran ran = run("compare " + path("right.json") + " " + path("wrong.json"));
  EXPECT_EQ(ran.status, 1) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("delta_rule  operators_within_bound"));
}

}  // namespace
}  // namespace gdn
