// Steps in a series of medians, by ranks.
#include "ci/night/bench_steps.h"

#include <algorithm>

namespace gdn {
namespace {

constexpr double nights_a_year = 365;
constexpr size_t tests_a_night = confirming_max - confirming_min + 1;

// Nearest rank, the lower one of two in the middle.
double middle_of(const std::vector<double>& sorted) { return sorted[(sorted.size() - 1) / 2]; }

// What k later nights have to exceed, each and in the middle.
struct Limits {
  bool possible = false;
  double each = 0;    // all but r of the earlier nights lie at or below
  double lowest = 0;  // all but s lie at or above
  double middle = 0;  // of the earlier nights
  // The middle of the later nights must lie this far above that of the earlier: as far as the
  // earlier, outliers aside, lie apart. Ranks do not need it; machines with moods do.
  double middle_min() const { return middle * each / lowest; }
};

// The chance that k later nights all lie above the earlier one of this place, counted from 0 at the
// lowest: C(n - place - 1 + k, k) / C(n + k, k).
double chance_above(size_t earlier, size_t later, size_t place) {
  double chance = 1;
  for (size_t i = 1; i <= later; ++i) {
    chance *= static_cast<double>(earlier - place - 1 + i) / static_cast<double>(earlier + i);
  }
  return chance;
}

Limits limits_of(const std::vector<double>& sorted, size_t later, double chance) {
  const size_t n = sorted.size();
  Limits limits;
  if (n < 2 || rank_chance(n, later, 0) > chance) return limits;
  // At most half of them: beyond lies the middle.
  size_t high = 0, low = 0;
  while (2 * (high + 1) < n && rank_chance(n, later, high + 1) <= chance) ++high;
  while (2 * (low + 1) < n && chance_above(n, later, low + 1) >= 0.5) ++low;
  limits.possible = true;
  limits.each = sorted[n - 1 - high];
  limits.lowest = sorted[low];
  limits.middle = middle_of(sorted);
  return limits;
}

size_t begin_of(size_t from, size_t end) {
  return std::max(from, end > earlier_max ? end - earlier_max : 0);
}

std::vector<double> sorted(std::span<const double> figures) {
  std::vector<double> copy(figures.begin(), figures.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

// The nights of the level that the series is at, in order of size.
std::vector<double> sorted_level(std::span<const double> figures, double chance) {
  const std::vector<BenchStep> steps = steps_of(figures, chance);
  const size_t from = begin_of(steps.empty() ? 0 : steps.back().first, figures.size());
  return sorted(figures.subspan(from));
}

// Does the night `last` confirm a step k nights long, the level before it begun at `from`?
bool is_confirmed(std::span<const double> figures, size_t from, size_t last, size_t k,
                  double chance, BenchStep& step) {
  if (last + 1 < from + k + 2) return false;
  const size_t first = last + 1 - k;
  const auto later = figures.subspan(first, k);
  const auto earlier = figures.subspan(begin_of(from, first), first - begin_of(from, first));
  const double least = *std::min_element(later.begin(), later.end());
  const auto outliers = static_cast<size_t>(std::count_if(
      earlier.begin(), earlier.end(), [&](double figure) { return figure >= least; }));
  if (2 * outliers >= earlier.size()) return false;
  if (rank_chance(earlier.size(), k, outliers) > chance) return false;
  const Limits limits = limits_of(sorted(earlier), k, chance);
  const double middle = middle_of(sorted(later));
  if (middle < limits.middle_min()) return false;
  step = {first, last, limits.middle, middle};
  return true;
}

}  // namespace

double chance_of_one_test(size_t series) {
  const auto tests = static_cast<double>(std::max<size_t>(series, 1) * tests_a_night);
  return false_alarms_a_year / (nights_a_year * tests);
}

double rank_chance(size_t earlier, size_t later, size_t outliers) {
  // C(k + r, k) / C(n + k, k): of all orders those in which at most r earlier nights come before
  // the last of the later ones, counted from the top.
  double chance = 1;
  for (size_t i = 1; i <= later; ++i) {
    chance *= static_cast<double>(outliers + i) / static_cast<double>(earlier + i);
  }
  return chance;
}

std::vector<BenchStep> steps_of(std::span<const double> figures, double chance) {
  std::vector<BenchStep> steps;
  size_t from = 0;
  for (size_t night = 0; night < figures.size(); ++night) {
    for (size_t k = confirming_min; k <= confirming_max; ++k) {
      BenchStep step;
      if (!is_confirmed(figures, from, night, k, chance, step)) continue;
      steps.push_back(step);
      from = step.first;  // a new level: later nights are compared with it
      break;
    }
  }
  return steps;
}

Detectable detectable_step(std::span<const double> figures, double chance) {
  const std::vector<double> earlier = sorted_level(figures, chance);
  Detectable best;
  for (size_t k = confirming_min; k <= confirming_max; ++k) {
    const Limits limits = limits_of(earlier, k, chance);
    if (!limits.possible) continue;
    // Nights that were no faster than `lowest` are, slower by the factor, above either limit.
    const double factor = limits.middle_min() / limits.lowest;
    if (best.nights == 0 || factor < best.factor) best = {factor, k};
  }
  return best;
}

size_t nights_standing_out(std::span<const double> figures, double chance) {
  for (size_t k = std::min(confirming_max, figures.size()); k > 0; --k) {
    const std::vector<double> earlier = sorted_level(figures.first(figures.size() - k), chance);
    // Fewer say little of how far they lie apart.
    if (earlier.size() < confirming_min) continue;
    const double least =
        *std::min_element(figures.end() - static_cast<std::ptrdiff_t>(k), figures.end());
    if (least > earlier.back() * (earlier.back() / earlier.front())) return k;
  }
  return 0;
}

}  // namespace gdn
