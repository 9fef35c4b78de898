// long-run as a person or a script meets it: many tokens, one bound that gathers, and what it sees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/program_run.h"

namespace gdn {
namespace {

using testing::HasSubstr;

class LongRunCli : public ProgramTest {
 protected:
  nlohmann::json json_of(const std::string& arguments) const {
    const Ran ran = run("long-run " + arguments + " --json " + path("report.json"));
    EXPECT_EQ(ran.status, 0) << ran.output;
    return nlohmann::json::parse(content("report.json"), nullptr, false);
  }
};

TEST_F(LongRunCli, UsageErrorsAreStatus2) {
  EXPECT_EQ(run("long-run --tokens 0").status, 2);
  EXPECT_EQ(run("long-run --engine no_such_engine").status, 2);
  EXPECT_EQ(run("long-run --seed 12xy").status, 2);
  EXPECT_THAT(run("long-run --seed 12xy").output, HasSubstr("--seed: expected"));
}

TEST_F(LongRunCli, TheBoundGathersAndTheErrorStaysWithinIt) {
  for (const char* const engine : {"twin", "simt"}) {
    const nlohmann::json report =
        json_of(std::string("--tokens 3000 --head-dim 4 --engine ") + engine);
    EXPECT_EQ(report.at("verdict"), "holds");
    EXPECT_EQ(report.at("judged"), 3000);
    ASSERT_EQ(report.at("points").size(), 5U);  // 1, 10, 100, 1000, 3000
    for (const nlohmann::json& point : report.at("points")) {
      EXPECT_LE(point.at("error_max"), point.at("bound_max"));
      EXPECT_LE(point.at("ratio_S"), 1);
      EXPECT_LE(point.at("ratio_O"), 1);
      EXPECT_GT(point.at("state_max"), 0);
    }
    // Nothing decays to speak of: what the first tokens left is still there.
    EXPECT_GT(report.at("points").back().at("bound_max"),
              report.at("points").front().at("bound_max"));
  }
}

TEST_F(LongRunCli, TheSameSeedGivesTheSameNumbers) {
  const nlohmann::json one = json_of("--tokens 300 --seed 3");
  EXPECT_EQ(one, json_of("--tokens 300 --seed 3"));
  EXPECT_NE(one.at("points"), json_of("--tokens 300 --seed 4").at("points"));
}

TEST_F(LongRunCli, AFaultIsFoundWithItsTokenAndACommand) {
  const Ran ran = run("long-run --tokens 300 --horizon 10 --engine mutant:error_before_decay");
  EXPECT_EQ(ran.status, 1) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("fails: "));
  EXPECT_THAT(ran.output, HasSubstr("got "));
  EXPECT_THAT(ran.output, HasSubstr("replay: "));
}

}  // namespace
}  // namespace gdn
