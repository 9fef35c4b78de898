// limit and odds as a person or a script meets them: the smallest change that is seen, and what the
// statistical tier sees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/program_run.h"

namespace gdn {
namespace {

using testing::HasSubstr;
using testing::Not;

class LimitCli : public ProgramTest {
 protected:
  nlohmann::json json_of(const std::string& arguments) const {
    const Ran ran = run(arguments + " --json " + path("report.json"));
    EXPECT_EQ(ran.status, 0) << ran.output;
    return nlohmann::json::parse(content("report.json"), nullptr, false);
  }
};

TEST_F(LimitCli, UsageErrorsAreStatus2) {
  EXPECT_EQ(run("limit --trials 5").status, 2);
  EXPECT_EQ(run("limit --engine no_such_engine").status, 2);
  EXPECT_THAT(run("limit --seed 12xy").output, HasSubstr("--seed: expected"));
  EXPECT_EQ(run("limit --seed 12xy").status, 2);
  EXPECT_EQ(run("odds --cases none").status, 2);
  EXPECT_EQ(run("odds --seed 12xy").status, 2);
  write("other.md", "no part of ours\n");
  for (const char* command : {"limit --quick --trials 10", "odds --cases 10"}) {
    for (const char* document : {"absent.md", "other.md"}) {
      const Ran ran = run(std::string(command) + " --summary " + path(document));
      EXPECT_EQ(ran.status, 5) << ran.output;
      EXPECT_THAT(ran.output, Not(HasSubstr("replay"))) << "it was measured in vain";
    }
  }
}

TEST_F(LimitCli, EveryTensorHasALimitBelowThatOfTheRules) {
  const nlohmann::json report = json_of("limit --quick --trials 40");
  size_t local = 0, global = 0;
  for (const nlohmann::json& row : report.at("rows")) {
    (row.at("check") == "local" ? local : global) += 1;
    EXPECT_EQ(row.at("trials"), 40);
    const nlohmann::json& ours = row.at("rules").front();
    EXPECT_EQ(ours.at("rule"), "proven bound");
    EXPECT_GE(ours.at("limit").at("ulp"), ours.at("median").at("ulp"));
    EXPECT_GE(ours.at("median").at("ulp"), 1);
    // What is only moved has to be the same bits.
    const std::string tensor = row.at("tensor");
    const bool is_moved = row.at("check") == "local" && (tensor == "V" || tensor == "HIST");
    if (is_moved) {
      EXPECT_EQ(ours.at("limit").at("ulp"), 1) << tensor;
    }
    for (const nlohmann::json& rule : row.at("rules")) {
      EXPECT_FALSE(rule.at("false_alarm")) << tensor << " " << rule;
      EXPECT_GE(rule.at("limit").at("of_row_norm"), ours.at("limit").at("of_row_norm")) << tensor;
    }
  }
  EXPECT_EQ(local, 2U * 15U);
  EXPECT_EQ(global, 2U * 15U);
}

TEST_F(LimitCli, TheSameComesOutOfOneProcessAndOfTwo) {
  const nlohmann::json one = json_of("limit --quick --trials 20 --seed 3 --jobs 1");
  EXPECT_EQ(one, json_of("limit --quick --trials 20 --seed 3 --jobs 2"));
  EXPECT_NE(one.at("rows"), json_of("limit --quick --trials 20 --seed 4").at("rows"));
}

// 3,000 trials without a miss: the odds of one are below 1 in 1,000.
TEST_F(LimitCli, OddsOfAMissAreStated) {
  const double odds = json_of("limit --quick --trials 3000").at("miss_probability_below");
  EXPECT_LT(odds, 1e-3);
  // 1 - odds is rounded once, and that 3,000 times over; log, exp and pow add an ulp each.
  EXPECT_NEAR(std::pow(1 - odds, 3000), 0.05, 0.05 * 3003 * 0x1p-52);
}

TEST_F(LimitCli, AWrongEngineHasNoLimit) {
  const Ran ran = run("limit --quick --trials 10 --engine mutant:error_before_decay");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.output, HasSubstr("mutant:error_before_decay: fails"));
}

TEST_F(LimitCli, AnEngineThatServesNoLayerIsNotSaidToHaveFailed) {
  const Ran ran =
      run(std::string("limit --quick --trials 10 --engine ") + PLUGIN_DIR + "/example_plugin.so");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.output, HasSubstr("not_applicable"));
}

TEST_F(LimitCli, RightEnginesAreNotSuspectedAndMutantsAre) {
  const nlohmann::json report = json_of("odds --cases 600");
  size_t mutants = 0;
  for (const nlohmann::json& row : report.at("rows")) {
    EXPECT_GT(row.at("judged"), 0) << row;
    if (row.at("is_mutant")) {
      ++mutants;
      EXPECT_GT(2 * row.at("suspicious").get<int>(), row.at("judged").get<int>()) << row;
    } else {
      EXPECT_EQ(row.at("suspicious"), 0) << row;
      EXPECT_LT(row.at("worst_ratio"), 1) << row;
    }
  }
  EXPECT_GE(mutants, 2U);
}

}  // namespace
}  // namespace gdn
