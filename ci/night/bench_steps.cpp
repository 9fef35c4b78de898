// Steps in a series of medians, by ranks.
#include "ci/night/bench_steps.h"

#include <algorithm>
#include <cmath>

namespace gdn {
namespace {

constexpr double nights_a_year = 365;
constexpr size_t tests_a_night = confirming_max - confirming_min + 1;

// Nearest rank, the lower one of two in the middle.
double middle_of(const std::vector<double>& sorted) { return sorted[(sorted.size() - 1) / 2]; }

std::vector<double> sorted(std::span<const double> figures) {
  std::vector<double> copy(figures.begin(), figures.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

// How many nights in a row are worth one that is independent of the others: (1 + rho) / (1 - rho),
// with rho the correlation of the ranks of a night and the next, one standard error on the careful
// side. Ranks, so that no single night decides; never below one.
double nights_of_a_mood(std::span<const double> figures) {
  const size_t n = figures.size();
  if (n < 2) return 1;
  const std::vector<double> order = sorted(figures);
  std::vector<double> ranks;
  for (const double figure : figures) {
    const auto place = std::equal_range(order.begin(), order.end(), figure);
    const auto twice = (place.first - order.begin()) + (place.second - order.begin()) - 1;
    ranks.push_back(static_cast<double>(twice) / 2 - static_cast<double>(n - 1) / 2);
  }
  double squares = 0, products = 0;
  for (size_t i = 0; i < n; ++i) squares += ranks[i] * ranks[i];
  for (size_t i = 0; i + 1 < n; ++i) products += ranks[i] * ranks[i + 1];
  if (squares == 0) return 1;  // they are all the same
  const double error = 1 / std::sqrt(static_cast<double>(n));
  const double rho = std::clamp(products / squares + error, 0.0, 1 - error);
  return (1 + rho) / (1 - rho);
}

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

Limits limits_of(std::span<const double> earlier, size_t later, double chance) {
  const size_t n = earlier.size();
  const double mood = nights_of_a_mood(earlier);
  const auto all = static_cast<double>(n) / mood, confirming = static_cast<double>(later) / mood;
  const auto chance_with = [&](size_t outliers) {
    return rank_chance(all, confirming, static_cast<double>(outliers) / mood);
  };
  Limits limits;
  if (n < 2 || chance_with(0) > chance) return limits;
  // At most half of them: beyond lies the middle.
  size_t high = 0, low = 0;
  while (2 * (high + 1) < n && chance_with(high + 1) <= chance) ++high;
  // All later nights above the earlier one of this place: C(n - place - 1 + k, k) / C(n + k, k).
  const auto chance_above = [&](size_t place) {
    return rank_chance(all, confirming, all - static_cast<double>(place + 1) / mood);
  };
  while (2 * (low + 1) < n && chance_above(low + 1) >= 0.5) ++low;
  const std::vector<double> order = sorted(earlier);
  limits.possible = true;
  limits.each = order[n - 1 - high];
  limits.lowest = order[low];
  limits.middle = middle_of(order);
  return limits;
}

size_t begin_of(size_t from, size_t end) {
  return std::max(from, end > earlier_max ? end - earlier_max : 0);
}

// The nights since the last step.
std::span<const double> level_of(std::span<const double> figures, double chance) {
  const std::vector<BenchStep> steps = steps_of(figures, chance);
  return figures.subspan(begin_of(steps.empty() ? 0 : steps.back().first, figures.size()));
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
  const auto chance_by_ranks = rank_chance(static_cast<double>(earlier.size()),
                                           static_cast<double>(k), static_cast<double>(outliers));
  if (chance_by_ranks > chance) return false;  // moods make it no smaller
  const Limits limits = limits_of(earlier, k, chance);
  if (!limits.possible || least <= limits.each) return false;
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

double rank_chance(double earlier, double later, double outliers) {
  // C(k + r, k) / C(n + k, k): of all orders those in which at most r earlier nights come before
  // the last of the later ones, counted from the top. By the gamma function where k is not whole.
  return std::exp(std::lgamma(outliers + later + 1) - std::lgamma(outliers + 1) +
                  std::lgamma(earlier + 1) - std::lgamma(earlier + later + 1));
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
  const std::span<const double> earlier = level_of(figures, chance);
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
  const std::span<const double> level = level_of(figures, chance);
  // Fewer nights before say little of how far they lie apart.
  for (size_t k = confirming_max; k > 0; --k) {
    if (level.size() < k + confirming_min) continue;
    const std::vector<double> earlier = sorted(level.first(level.size() - k));
    const auto later = level.last(k);
    const double least = *std::min_element(later.begin(), later.end());
    if (least > earlier.back() * (earlier.back() / earlier.front())) return k;
  }
  return 0;
}

}  // namespace gdn
