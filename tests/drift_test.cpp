// What moves on replayed histories: years of a stable engine, planted steps at drawn nights, slow
// creep, and speeds as noisy machines give them.
#include "ci/night/drift.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "ci/night/bench_steps.h"
#include "reference/bound.h"
#include "reference/rng.h"

namespace gdn {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::string commit_of(size_t night) { return fmt::format("{:040x}", mix64(night)); }

Night night_of(size_t index) {
  Night night;
  night.id = fmt::format("night-{:04}", index);
  night.commit = commit_of(index);
  night.began = fmt::format("{:04}-01-01T00:00:00Z", 1000 + index);
  night.complete = true;
  return night;
}

// A tensor whose p99 is `p99(night)`; other figures follow it, and so does the digest.
Trend trend_of(const std::vector<Night>& nights, const std::function<double(size_t)>& p99) {
  Trend trend{"1", "cuda", "delta_rule", "O", {}};
  for (size_t i = 0; i < nights.size(); ++i) {
    const double value = p99(i);
    if (std::isnan(value)) continue;  // not there in this night
    trend.points.push_back({nights[i].id, nights[i].commit, nights[i].began, value / 2, value,
                            value * 1.5, fmt::format("{:a}", value), 100, 0, nights[i].complete});
  }
  return trend;
}

HistoryView view_of(size_t nights) {
  HistoryView view;
  for (size_t i = 0; i < nights; ++i) view.nights.push_back(night_of(i));
  return view;
}

std::vector<DatedChange> changes_of(size_t nights, const std::function<double(size_t)>& p99) {
  HistoryView view = view_of(nights);
  view.trends = {trend_of(view.nights, p99)};
  return drift(view);
}

size_t alarms(const std::vector<DatedChange>& changes) {
  return static_cast<size_t>(
      std::count_if(changes.begin(), changes.end(), [](const auto& c) { return c.change.alarm; }));
}

constexpr size_t year = 365;

TEST(TensorDrift, AStableYearIsSilent) {
  HistoryView view = view_of(year);
  Rng rng(1);
  for (size_t series = 0; series < 100; ++series) {
    const double p99 = std::ldexp(1 + rng.unit(), -static_cast<int>(rng.range(0, 20)));
    Trend trend = trend_of(view.nights, [&](size_t) { return p99; });
    trend.tensor = fmt::format("{}", series);
    view.trends.push_back(trend);
  }
  EXPECT_THAT(drift(view), IsEmpty());
}

TEST(TensorDrift, AStepIsAnAlarmInItsNightWithItsCommits) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    Rng rng(seed);
    const auto step = static_cast<size_t>(rng.range(1, year - 1));
    const double before = 0.01 + 0.5 * rng.unit();
    const auto changes =
        changes_of(year, [&](size_t night) { return night < step ? before : 1.25 * before; });
    ASSERT_THAT(changes, SizeIs(1)) << "step at night " << step;
    const DriftChange& change = changes[0].change;
    EXPECT_TRUE(change.alarm);
    EXPECT_EQ(changes[0].night, night_of(step).id);
    EXPECT_EQ(change.since_commit, commit_of(step));
    EXPECT_EQ(change.good_commit, commit_of(step - 1));
    EXPECT_EQ(change.before, before);
    EXPECT_EQ(change.after, 1.25 * before);
    EXPECT_THAT(change.words, HasSubstr("ALARM: delta_rule O on cuda: p99 rose 1.25x"));
    EXPECT_THAT(change.words, HasSubstr(short_commit(commit_of(step))));
  }
}

TEST(TensorDrift, ASmallerStepIsNamedAndNoAlarm) {
  for (const double factor : {1.2, 0x1.3ffffffffffffp0, 0.5}) {
    const auto changes =
        changes_of(year, [&](size_t night) { return night < 200 ? 0.25 : 0.25 * factor; });
    ASSERT_THAT(changes, SizeIs(1)) << factor;
    EXPECT_EQ(changes[0].night, night_of(200).id);
    EXPECT_FALSE(changes[0].change.alarm);
    EXPECT_THAT(changes[0].change.words, HasSubstr("its numbers moved"));
  }
}

// 1% a night passes 1.25 in sum at the 23rd night (1.01^22 = 1.2447), and again 23 nights later.
TEST(TensorDrift, CreepIsAnAlarmOnceInTheNightInWhichItCrosses) {
  const auto changes =
      changes_of(47, [](size_t night) { return 0.1 * std::pow(1.01, static_cast<double>(night)); });
  ASSERT_THAT(changes, SizeIs(46));
  std::vector<std::string> nights;
  for (const DatedChange& dated : changes) {
    if (dated.change.alarm) nights.push_back(dated.night);
  }
  EXPECT_THAT(nights, testing::ElementsAre(night_of(23).id, night_of(46).id));
  EXPECT_THAT(changes[22].change.words, HasSubstr("in sum since " + short_commit(commit_of(0))));
  EXPECT_EQ(changes[22].change.good_commit, commit_of(22));
}

// What got better is the new base: a slow way back to where it was is a rise of it.
TEST(TensorDrift, CreepCountsFromTheLowestNight) {
  const std::vector<double> p99 = {0.4, 0.2, 0.22, 0.24, 0.26, 0.26, 0.28};
  const auto changes = changes_of(p99.size(), [&](size_t night) { return p99[night]; });
  ASSERT_THAT(changes, SizeIs(5));
  EXPECT_EQ(alarms(changes), 1U);
  EXPECT_EQ(changes[3].night, night_of(4).id);
  EXPECT_TRUE(changes[3].change.alarm);
}

TEST(TensorDrift, AnExactTensorThatIsNoMoreIsAnAlarm) {
  const auto changes = changes_of(9, [](size_t night) { return night < 5 ? 0 : 1e-9; });
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_TRUE(changes[0].change.alarm);
  EXPECT_THAT(changes_of(9, [](size_t night) { return night < 5 ? 0.5 : infinity; }), SizeIs(1));
}

// The worst is 1.5 times p99 here: 0.6 -> 0.7 rises by less than 1.25, and leaves the bound.
TEST(TensorDrift, WhatLeavesItsBoundIsAnAlarmHoweverSmallTheStep) {
  const auto changes = changes_of(9, [](size_t night) { return night < 5 ? 0.6 : 0.7; });
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_TRUE(changes[0].change.alarm);
  EXPECT_THAT(changes[0].change.words, HasSubstr("the worst left its bound"));
  EXPECT_THAT(changes[0].change.words, Not(HasSubstr("p99 rose")));
}

TEST(TensorDrift, OneBitIsNamedByItsDigest) {
  HistoryView view = view_of(9);
  view.trends = {trend_of(view.nights, [](size_t) { return 0.5; })};
  for (size_t i = 4; i < 9; ++i) view.trends[0].points[i].digest = "other";
  const auto changes = drift(view);
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].night, night_of(4).id);
  EXPECT_FALSE(changes[0].change.alarm);
}

TEST(TensorDrift, WhatCannotBeDecidedAnyMoreIsAnAlarm) {
  for (const bool undecided : {true, false}) {
    HistoryView view = view_of(9);
    view.trends = {trend_of(view.nights, [](size_t) { return 0.5; })};
    for (size_t i = 4; i < 9; ++i) {
      TrendPoint& point = view.trends[0].points[i];
      undecided ? ++point.undecided : --point.samples;
    }
    const auto changes = drift(view);
    ASSERT_THAT(changes, SizeIs(1));
    EXPECT_TRUE(changes[0].change.alarm);
    EXPECT_EQ(changes[0].night, night_of(4).id);
  }
}

HistoryView view_of_two(size_t nights, const std::function<bool(size_t)>& has_first,
                        const std::function<bool(size_t)>& has_second) {
  HistoryView view = view_of(nights);
  const double none = std::nan("");
  view.trends = {trend_of(view.nights, [&](size_t i) { return has_first(i) ? 0.5 : none; }),
                 trend_of(view.nights, [&](size_t i) { return has_second(i) ? 0.5 : none; })};
  view.trends[1].tensor = "state";
  return view;
}

TEST(TensorDrift, ATensorThatVanishesIsAnAlarmOnce) {
  const HistoryView view = view_of_two(
      9, [](size_t) { return true; }, [](size_t night) { return night < 4 || night > 6; });
  const auto changes = drift(view);
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].night, night_of(4).id);
  EXPECT_TRUE(changes[0].change.alarm);
  EXPECT_EQ(changes[0].change.tensor, "state");
  EXPECT_EQ(changes[0].change.good_commit, commit_of(3));
  EXPECT_THAT(changes[0].change.words, HasSubstr("it is gone"));
}

TEST(TensorDrift, AnEngineThatDidNotRunIsNoDrift) {
  const auto runs = [](size_t night) { return night < 4 || night == 7; };
  EXPECT_THAT(drift(view_of_two(9, runs, runs)), IsEmpty());
}

TEST(TensorDrift, ANightThatWasCutOffIsComparedButIsNoReference) {
  HistoryView view = view_of(9);
  view.nights[4].complete = false;
  view.nights[6].complete = false;
  view.trends = {
      trend_of(view.nights, [](size_t night) { return night < 4 ? 0.1 : 0.2; }),
      trend_of(view.nights, [](size_t night) { return night == 6 ? std::nan("") : 0.2; })};
  view.trends[1].tensor = "state";
  const auto changes = drift(view);
  // Said in the night that was cut off, and in the first whole one; nothing is gone.
  ASSERT_THAT(changes, SizeIs(2));
  EXPECT_EQ(changes[0].night, night_of(4).id);
  EXPECT_EQ(changes[1].night, night_of(5).id);
  EXPECT_EQ(changes[1].change.good_commit, commit_of(3));
}

TEST(TensorDrift, AnotherPanelIsAnotherSeries) {
  HistoryView view = view_of(8);
  view.trends = {
      trend_of(view.nights, [](size_t night) { return night < 4 ? 0.1 : std::nan(""); }),
      trend_of(view.nights, [](size_t night) { return night < 4 ? std::nan("") : 0.9; })};
  view.trends[1].panel = "2";
  EXPECT_THAT(drift(view), IsEmpty());
}

TEST(TensorDrift, WordsSayWhatElseIsAnother) {
  HistoryView view = view_of(2);
  view.trends = {trend_of(view.nights, [](size_t night) { return night == 0 ? 0.1 : 0.11; })};
  EXPECT_THAT(drift(view)[0].change.words, Not(HasSubstr("driver")));
  view.nights[1].machine.driver = "580";
  view.trends[0].points[1].commit = view.trends[0].points[0].commit;
  EXPECT_THAT(drift(view)[0].change.words, HasSubstr("driver '' -> '580'"));
  EXPECT_THAT(drift(view)[0].change.words, HasSubstr("two nights of the one commit"));
}

TEST(TensorDrift, WordsAreOneLineWhateverAnEngineIsCalled) {
  HistoryView view = view_of(2);
  view.trends = {trend_of(view.nights, [](size_t night) { return night == 0 ? 0.1 : 0.2; })};
  view.trends[0].engine = "a\nb\x1b[31m";
  const auto changes = drift(view);
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].change.words.find_first_of("\n\x1b"), std::string::npos);
  EXPECT_EQ(changes[0].change.engine, "a\nb\x1b[31m");
}

}  // namespace
}  // namespace gdn
