// Two regressions planted among sixteen simulated nights: the report finds both and dates them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ci/night/report_words.h"
#include "tests/simulated_nights.h"

namespace gdn {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class ReportPlanted : public testing::Test {
 protected:
  // Of the first nights up to one; the nights are made once.
  static NightReport report_up_to(size_t last) {
    static const std::vector<Night> nights = simulated_nights(SOURCE_DIR);
    std::string why;
    std::optional<NightReport> report =
        remembered_report({nights.begin(), nights.begin() + static_cast<int64_t>(last) + 1}, &why);
    EXPECT_TRUE(report.has_value()) << why;
    return *std::move(report);
  }
  static std::string at(size_t night) { return short_commit(simulated_commit(night)); }

  const PlantedRegressions planted_;
};

TEST_F(ReportPlanted, TheNightsBeforeThemHold) {
  for (const size_t last : {size_t{0}, planted_.finding_from - 1, planted_.step_at - 1}) {
    const NightVerdict verdict = verdict_of(report_up_to(last));
    EXPECT_EQ(verdict.outcome, NightOutcome::holds) << last << ": " << verdict.sentence;
    EXPECT_EQ(verdict.first.size(), 0U) << last;
  }
}

TEST_F(ReportPlanted, AStepIsAnAlarmInItsFirstNight) {
  const NightReport report = report_up_to(planted_.step_at);
  const json night = json::parse(as_json(report));
  EXPECT_EQ(night["outcome"], "fails");
  ASSERT_EQ(night["changes"].size(), 2U) << "simt, and cuda with it";
  for (const json& change : night["changes"]) {
    EXPECT_EQ(change["alarm"], true);
    EXPECT_EQ(change["operator"], planted_.op);
    EXPECT_EQ(change["tensor"], planted_.tensor);
    EXPECT_NE(change["engine"], "twin");
    EXPECT_EQ(change["after"], 2 * change["before"].get<double>());
    EXPECT_EQ(change["since_commit"], simulated_commit(planted_.step_at));
    EXPECT_EQ(change["good_commit"], simulated_commit(planted_.step_at - 1));
  }
  const NightVerdict verdict = verdict_of(report);
  ASSERT_EQ(verdict.first.size(), 2U);
  EXPECT_EQ(verdict.first.front().command,
            "git log --oneline " + at(planted_.step_at - 1) + ".." + at(planted_.step_at));
}

TEST_F(ReportPlanted, AFindingIsNewThenKnownThenFixed) {
  const auto only = [&](size_t last) {
    const NightReport report = report_up_to(last);
    EXPECT_EQ(report.view.findings.size(), 1U) << last;
    return report.view.findings.front();
  };
  const KnownFinding fresh = only(planted_.finding_from);
  EXPECT_EQ(fresh.state, "new");
  EXPECT_EQ(fresh.first_commit, simulated_commit(planted_.finding_from));
  EXPECT_EQ(fresh.last_good_commit, simulated_commit(planted_.finding_from - 1));
  EXPECT_EQ(only(planted_.finding_from + 1).state, "known");
  const KnownFinding fixed = only(planted_.finding_until);
  EXPECT_EQ(fixed.state, "fixed");
  EXPECT_EQ(fixed.first_commit, simulated_commit(planted_.finding_from));
  EXPECT_EQ(fixed.last_commit, simulated_commit(planted_.finding_until - 1));
  EXPECT_EQ(fixed.nights, planted_.finding_until - planted_.finding_from);
  const NightReport report = report_up_to(planted_.finding_until);
  ASSERT_NE(gone_since(report.view, fixed), nullptr);
  EXPECT_EQ(gone_since(report.view, fixed)->commit, simulated_commit(planted_.finding_until));
}

TEST_F(ReportPlanted, BothAreDatedOnThePageOfTheLastNight) {
  const NightReport report = report_up_to(planted_.nights - 1);
  EXPECT_EQ(verdict_of(report).outcome, NightOutcome::holds);
  const std::string page = as_html(report);
  const auto seen = [&](size_t night) { return simulated_date(night) + " at " + at(night); };
  EXPECT_THAT(page, HasSubstr("first seen " + seen(planted_.finding_from) + ", last seen " +
                              seen(planted_.finding_until - 1) + ", gone since " +
                              seen(planted_.finding_until)));
  ASSERT_EQ(moved_before(report).size(), 2U);
  const std::string row = "<th scope=\"row\" class=\"code\">" + simulated_date(planted_.step_at);
  EXPECT_THAT(page, HasSubstr(row));
  EXPECT_THAT(page, HasSubstr("<td class=\"code\">" + at(planted_.step_at) + "</td>"));
  EXPECT_THAT(as_summary(report), HasSubstr(simulated_date(planted_.step_at) + ": ALARM"));
}

TEST_F(ReportPlanted, ANightWithoutItsGpuIsNoPassAndNoAlarm) {
  const NightReport report = report_up_to(planted_.without_gpu);
  const NightVerdict verdict = verdict_of(report);
  EXPECT_THAT(verdict.sentence, HasSubstr("engine cuda was not judged"));
  EXPECT_THAT(verdict.sentence, HasSubstr("2 stages did not run"));
  EXPECT_EQ(report.view.changes.size(), 0U);
  EXPECT_THAT(as_html(report), HasSubstr("<td class=\"heat none\">not judged</td>"));
}

}  // namespace
}  // namespace gdn
