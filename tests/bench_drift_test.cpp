// Steps of speed on simulated machines: quiet, heavy-tailed, moody. How often they cry wolf, and
// what they see.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "ci/night/bench_steps.h"
#include "ci/night/drift.h"
#include "reference/bound.h"
#include "reference/rng.h"

namespace gdn {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Counted over all orders of n earlier and k later nights.
double counted_chance(size_t earlier, size_t later, size_t outliers) {
  std::vector<size_t> order(earlier + later);
  std::iota(order.begin(), order.end(), 0U);
  double hits = 0, all = 0;
  do {
    size_t above = 0;
    const size_t least =
        *std::min_element(order.begin() + static_cast<std::ptrdiff_t>(earlier), order.end());
    for (size_t i = 0; i < earlier; ++i) above += order[i] > least;
    hits += above <= outliers;
    ++all;
  } while (std::next_permutation(order.begin(), order.end()));
  return hits / all;
}

TEST(BenchSteps, TheChanceIsThatOfAllOrdersCounted) {
  for (const auto& [n, k, r] : {std::array<size_t, 3>{3, 2, 0}, {4, 3, 1}, {5, 3, 2}, {2, 2, 2}}) {
    // k factors of three roundings each, and the quotient of the counts.
    const double want = counted_chance(n, k, r);
    const double got =
        rank_chance(static_cast<double>(n), static_cast<double>(k), static_cast<double>(r));
    // Four logarithms below 8 (of 7! at most), each within an ulp, and the exponential.
    EXPECT_NEAR(got / want, 1, 40 * 0x1p-52) << n << " " << k << " " << r;
  }
}

// A machine: the next night's figure, and how much of a night's mood the next one has.
struct Machine {
  const char* name;
  double (*noise)(Rng&);
  double memory = 0;
};

double normal_of(Rng& rng) {
  const double u = (1 + static_cast<double>(rng.next() >> 12)) * 0x1p-52;
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * rng.unit());
}

double quiet(Rng& rng) { return 10 * std::exp(0.01 * normal_of(rng)); }
// A floor, and a tail so heavy that it has no mean.
double heavy_tailed(Rng& rng) {
  return 10 * (1 + 0.02 * std::fabs(std::tan(std::numbers::pi * (rng.unit() - 0.5))));
}
// One night in five on another host.
double two_hosts(Rng& rng) { return rng.unit() < 0.2F ? 1.5 * quiet(rng) : quiet(rng); }

constexpr Machine machines[] = {
    {"quiet, 1%", quiet},
    {"heavy tail", heavy_tailed},
    {"two hosts", two_hosts},
    {"heavy tail, half of a night lasts", heavy_tailed, 0.5},
};
constexpr size_t year = 365, series = 10;

std::vector<double> nights_of(const Machine& machine, Rng& rng, size_t nights) {
  std::vector<double> figures;
  double mood = 0;
  for (size_t i = 0; i < nights; ++i) {
    const double share = std::sqrt(1 - machine.memory * machine.memory);
    mood = machine.memory * mood + share * std::log(machine.noise(rng) / 10);
    figures.push_back(10 * std::exp(mood));
  }
  return figures;
}

// A thousand years, of ten figures each.
TEST(BenchSteps, NoisyMachinesCryWolfLessThanTheyMay) {
  constexpr size_t years = 250;
  const double chance = chance_of_one_test(series);
  for (const Machine& machine : machines) {
    size_t alarms = 0;
    for (size_t i = 0; i < series; ++i) {
      Rng rng(1000 + i);
      for (size_t y = 0; y < years; ++y) {
        alarms += steps_of(nights_of(machine, rng, year), chance).size();
      }
    }
    const double a_year = static_cast<double>(alarms) / years;
    std::printf("false alarms a year, %s: %g\n", machine.name, a_year);
    EXPECT_LE(a_year, false_alarms_a_year) << machine.name;
  }
}

// A step as large as is said, after n nights: seen within the nights that are said more often than
// not, and dated to its night.
TEST(BenchSteps, WhatIsSaidToBeSeenIsSeen) {
  const double chance = chance_of_one_test(series);
  for (const Machine& machine : machines) {
    for (const size_t before : {30, 60, 100}) {
      Rng rng(before);
      size_t trials = 0, seen = 0, dated = 0;
      double factors = 0, nights = 0;
      for (size_t i = 0; i < 200; ++i) {
        std::vector<double> figures = nights_of(machine, rng, before);
        const Detectable step = detectable_step(figures, chance);
        if (step.nights == 0) continue;
        ++trials;
        factors += step.factor;
        for (const double figure : nights_of(machine, rng, step.nights)) {
          figures.push_back(step.factor * figure);
        }
        const std::vector<BenchStep> steps = steps_of(figures, chance);
        if (steps.empty() || steps.back().alarm < before) continue;
        ++seen;
        dated += steps.back().first == before;
        nights += static_cast<double>(steps.back().alarm + 1 - before);
      }
      // A machine with moods cannot tell.
      EXPECT_EQ(trials > 0, machine.memory == 0) << machine.name << " " << before;
      if (trials == 0) continue;
      std::printf("%s, %zu nights: %zu of 200 say a step, %.3fx; %zu seen, after %.1f nights\n",
                  machine.name, before, trials, factors / static_cast<double>(trials), seen,
                  nights / static_cast<double>(seen));
      EXPECT_GE(2 * seen, trials) << machine.name << " " << before;
      EXPECT_GE(2 * dated, seen) << machine.name << " " << before;
    }
  }
}

TEST(BenchSteps, AFewNightsSayNothing) {
  const std::vector<double> figures(4, 10.0);
  EXPECT_EQ(detectable_step(figures, chance_of_one_test(series)).nights, 0U);
  std::vector<double> doubled = figures;
  doubled.insert(doubled.end(), 3, 20.0);
  EXPECT_THAT(steps_of(doubled, chance_of_one_test(series)), IsEmpty());
  EXPECT_EQ(nights_standing_out(doubled, chance_of_one_test(series)), 3U);
  EXPECT_EQ(nights_standing_out(figures, chance_of_one_test(series)), 0U);
}

BenchTrend trend_of(const std::vector<double>& medians, bool rate) {
  BenchTrend trend{"a GPU", "step", rate ? "tokens/s" : "us", {}};
  for (size_t i = 0; i < medians.size(); ++i) {
    const double low = 0.99 * medians[i], high = 1.01 * medians[i];
    trend.points.push_back({fmt::format("{:04}", i), fmt::format("{:040x}", mix64(i)), "",
                            medians[i], rate ? high : low, rate ? low : high});
  }
  return trend;
}

HistoryView view_of(const BenchTrend& trend) {
  HistoryView view;
  view.benches = {trend};
  for (const BenchPoint& point : trend.points) {
    view.nights.emplace_back();
    view.nights.back().id = point.night;
    view.nights.back().commit = point.commit;
  }
  return view;
}

// 60 nights, then 30 that take `factor` as long.
std::vector<double> stepped(double factor) {
  Rng rng(5);
  std::vector<double> figures = nights_of(machines[0], rng, 90);
  for (size_t i = 60; i < 90; ++i) figures[i] *= factor;
  return figures;
}

TEST(BenchDrift, AStepIsAnAlarmOnceAndDated) {
  const std::vector<double> noise = stepped(1);
  const auto [least, most] = std::minmax_element(noise.begin(), noise.end());
  const double spread = std::log(*most / *least);
  for (const bool rate : {false, true}) {
    const double factor = rate ? 1 / 1.5 : 1.5;
    const BenchTrend trend = trend_of(stepped(factor), rate);
    const std::vector<DatedChange> changes = drift(view_of(trend));
    ASSERT_THAT(changes, SizeIs(1));
    const DriftChange& change = changes[0].change;
    EXPECT_TRUE(change.alarm);
    EXPECT_EQ(change.kind, "bench");
    EXPECT_EQ(change.since_commit, trend.points[60].commit);
    EXPECT_EQ(change.good_commit, trend.points[59].commit);
    // Medians lie within what they are medians of.
    EXPECT_LE(std::fabs(std::log(change.after / change.before / factor)), spread);
    EXPECT_THAT(change.words, HasSubstr("ALARM: step on a GPU: slower, confirmed by"));
  }
}

TEST(BenchDrift, WhatGetsFasterIsNamedAndNoAlarm) {
  const std::vector<DatedChange> changes = drift(view_of(trend_of(stepped(1 / 1.5), false)));
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_FALSE(changes[0].change.alarm);
  EXPECT_THAT(changes[0].change.words, HasSubstr("faster, confirmed by"));
}

TEST(BenchDrift, TheFirstNightOfAStepIsNamedAndNotConfirmed) {
  for (const size_t nights : {1, 3}) {
    std::vector<double> figures = stepped(1.5);
    figures.resize(60 + nights);
    const BenchTrend trend = trend_of(figures, false);
    const std::vector<DatedChange> changes = drift(view_of(trend));
    ASSERT_THAT(changes, SizeIs(1));
    EXPECT_FALSE(changes[0].change.alarm);
    EXPECT_EQ(changes[0].change.since_commit, trend.points[60].commit);
    EXPECT_THAT(changes[0].change.words, HasSubstr("not confirmed yet"));
  }
}

TEST(BenchDrift, FiguresThatAreNoneAreLeftOut) {
  std::vector<double> figures = stepped(1);
  for (size_t i = 0; i < figures.size(); i += 7) figures[i] = i % 2 == 0 ? 0 : infinity;
  EXPECT_THAT(drift(view_of(trend_of(figures, false))), IsEmpty());
}

TEST(BenchDrift, TheSmallestStepIsFilledIn) {
  std::vector<BenchTrend> trends = {trend_of(stepped(1), false), trend_of({10, 11}, false)};
  add_detectable_steps(trends);
  EXPECT_GT(trends[0].detectable_step, 1);
  EXPECT_LT(trends[0].detectable_step, 1.1);
  EXPECT_GE(trends[0].detected_in, confirming_min);
  EXPECT_EQ(trends[1].detectable_step, 0);
  EXPECT_EQ(trends[1].detected_in, 0U);
}

}  // namespace
}  // namespace gdn
