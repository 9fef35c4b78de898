// Steps in a series of medians, one a night, by ranks alone: no model of the noise. All figures are
// positive, and larger is worse. docs/history.md derives it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace gdn {

// Less than one false alarm a year is asked for over all figures; nights of one machine are not
// quite exchangeable, so that a tenth of it is spent.
inline constexpr double false_alarms_a_year = 0.1;

// A step is an alarm when the last k nights confirm it, for the first of these k that does.
inline constexpr size_t confirming_min = 3, confirming_max = 14;
// Compared with as many earlier nights at most: a season, after which a machine is another one.
inline constexpr size_t earlier_max = 100;

// The chance of a false alarm that each test of one night may have, of so many series.
double chance_of_one_test(size_t series);

// If n earlier and k later nights are exchangeable: the chance that each of the later ones exceeds
// all of the earlier but r.
double rank_chance(double earlier, double later, double outliers);

struct BenchStep {
  size_t first = 0, alarm = 0;   // nights: the first after the step, the one that confirms it
  double before = 0, after = 0;  // medians of the earlier and of the confirming nights
};
std::vector<BenchStep> steps_of(std::span<const double> figures, double chance);

// The smallest factor that the nights of the series, since the last step, let anyone see; 0 where
// there are too few of them. It is an alarm within `nights` nights with odds of a half at least.
struct Detectable {
  double factor = 0;
  size_t nights = 0;
};
Detectable detectable_step(std::span<const double> figures, double chance);

// How many of the last nights, one after the other, lie beyond all of their level before them, by
// more than these lie apart: 0 most often, and confirming_max at most. No odds come with it: it is
// said, and not an alarm.
size_t nights_standing_out(std::span<const double> figures, double chance);

}  // namespace gdn
