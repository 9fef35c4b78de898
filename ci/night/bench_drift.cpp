// Figures of speed from night to night: a step that the nights after it confirm, and what stands
// out before it is confirmed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ci/escaped.h"
#include "ci/night/bench_steps.h"
#include "ci/night/drift.h"

namespace gdn {
namespace {

// Of a rate more is better: its fastest run is the largest.
bool is_rate(const BenchTrend& trend) {
  const auto says_rate = [](const BenchPoint& p) { return p.fastest > p.slowest; };
  return std::any_of(trend.points.begin(), trend.points.end(), says_rate);
}

// A trend as positive figures of which larger is `worse`, or better; without points that are no
// such figure.
struct Series {
  std::vector<double> figures;
  std::vector<const BenchPoint*> points;
};

Series series_of(const BenchTrend& trend, bool worse) {
  Series series;
  for (const BenchPoint& point : trend.points) {
    if (!(point.median > 0) || std::isinf(point.median)) continue;
    const bool upright = is_rate(trend) != worse;
    series.figures.push_back(upright ? point.median : 1 / point.median);
    series.points.push_back(&point);
  }
  return series;
}

DriftChange change_of(const BenchTrend& trend, const BenchPoint& good, const BenchPoint& since) {
  DriftChange change;
  change.kind = "bench";
  change.machine = trend.machine;
  change.name = trend.name;
  change.unit = trend.unit;
  change.since_commit = since.commit;
  change.good_commit = good.commit;
  return change;
}

std::string words_of(const DriftChange& change, const std::string& what) {
  const double slower = std::max(change.before, change.after);
  const double faster = std::min(change.before, change.after);
  return fmt::format("{}{} on {}: {}; median {:.4g} -> {:.4g} {} ({:.3g}x); since {}, not in {}",
                     change.alarm ? "ALARM: " : "", visible(change.name), visible(change.machine),
                     what, change.before, change.after, visible(change.unit), slower / faster,
                     short_commit(change.since_commit), short_commit(change.good_commit));
}

void add_steps(const BenchTrend& trend, const Series& series, double chance, bool worse,
               std::vector<DatedChange>& changes) {
  const bool upright = is_rate(trend) != worse;
  for (const BenchStep& step : steps_of(series.figures, chance)) {
    DriftChange change =
        change_of(trend, *series.points[step.first - 1], *series.points[step.first]);
    change.before = upright ? step.before : 1 / step.before;
    change.after = upright ? step.after : 1 / step.after;
    change.alarm = worse;
    change.words =
        words_of(change, fmt::format("{}, confirmed by {} nights", worse ? "slower" : "faster",
                                     step.alarm + 1 - step.first));
    changes.push_back({series.points[step.alarm]->night, change});
  }
}

// The latest night alone: of earlier ones it is known what came of it.
void add_latest(const BenchTrend& trend, const Series& series, double chance, bool worse,
                std::vector<DatedChange>& changes) {
  const size_t nights = nights_standing_out(series.figures, chance);
  if (nights == 0) return;
  const size_t first = series.points.size() - nights;
  const BenchPoint& before = *series.points[first - 1];
  const BenchPoint& now = *series.points.back();
  DriftChange change = change_of(trend, before, *series.points[first]);
  change.before = before.median;
  change.after = now.median;
  change.words =
      words_of(change, fmt::format("{} than in any night before for {} night{}, not "
                                   "confirmed yet",
                                   worse ? "slower" : "faster", nights, nights == 1 ? "" : "s"));
  changes.push_back({now.night, change});
}

}  // namespace

std::vector<DatedChange> bench_drift(const HistoryView& view) {
  const double chance = chance_of_one_test(view.benches.size());
  std::vector<DatedChange> changes;
  for (const BenchTrend& trend : view.benches) {
    for (const bool worse : {true, false}) {
      const Series series = series_of(trend, worse);
      add_steps(trend, series, chance, worse, changes);
      add_latest(trend, series, chance, worse, changes);
    }
  }
  return changes;
}

void add_detectable_steps(std::vector<BenchTrend>& benches) {
  const double chance = chance_of_one_test(benches.size());
  for (BenchTrend& trend : benches) {
    const Detectable step = detectable_step(series_of(trend, true).figures, chance);
    trend.detectable_step = step.factor;
    trend.detected_in = step.nights;
  }
}

}  // namespace gdn
