// Sources: Smirnov, On the estimation of the discrepancy between empirical curves of distribution
// for two independent samples, 1939; for the exact count of paths, Hodges, The significance
// probability of the Smirnov two-sample test, Ark. Mat. 3, 1958; Holm, Scand. J. Statist. 6, 1979.
#ifdef __FAST_MATH__
#error "probabilities need IEEE arithmetic: build without fast math"
#endif

#include "ci/compare_statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gdn {
namespace {

constexpr int below_all = RatioCounts::exponent_min - 1;
constexpr int above_all = RatioCounts::exponent_max + 1;

// All bins as one scale, zero and infinity at its ends.
std::map<int, size_t> scale_of(const RatioCounts& ratios) {
  std::map<int, size_t> bins = ratios.powers_of_two;
  if (ratios.zero > 0) bins[below_all] = ratios.zero;
  if (ratios.infinite > 0) bins[above_all] = ratios.infinite;
  return bins;
}

}  // namespace

double smirnov_p(double distance, size_t n, size_t m) {
  if (distance <= 0 || n == 0 || m == 0) return 1;
  const double sizes = static_cast<double>(n) * static_cast<double>(m);
  if (sizes > static_cast<double>(exact_product_max)) {
    const double harmonic = sizes / static_cast<double>(n + m);
    return std::exp(-2 * distance * distance * harmonic);
  }
  // Every order of the two samples is as likely as any other: a path from (0,0) to (n,m), a step
  // a sample. Counted, as shares of all paths, are those on which i/n - j/m reaches the distance.
  // Differences are multiples of 1/(nm); half of one keeps rounding out of the comparison.
  const double limit = distance - 0.5 / sizes;
  std::vector<double> reached(m + 1, 0);
  for (size_t i = 0; i <= n; ++i) {
    for (size_t j = 0; j <= m; ++j) {
      const double ahead = static_cast<double>(i) / static_cast<double>(n) -
                           static_cast<double>(j) / static_cast<double>(m);
      if (ahead >= limit) {
        reached[j] = 1;
      } else if (i + j > 0) {
        // The last step of a random path to (i,j) was along n with probability i / (i+j).
        const double along = static_cast<double>(i) / static_cast<double>(i + j);
        const double from_left = j > 0 ? reached[j - 1] : 0;
        reached[j] = along * reached[j] + (1 - along) * from_left;
      }
    }
  }
  return reached[m];
}

MovedBoth moved(const RatioCounts& a, const RatioCounts& b) {
  const size_t n = a.samples(), m = b.samples();
  MovedBoth both;
  if (n == 0 || m == 0) return both;
  const std::map<int, size_t> of_a = scale_of(a), of_b = scale_of(b);
  size_t below_a = 0, below_b = 0;
  for (int bin = below_all; bin <= above_all; ++bin) {
    if (const auto at = of_a.find(bin); at != of_a.end()) below_a += at->second;
    if (const auto at = of_b.find(bin); at != of_b.end()) below_b += at->second;
    const double ahead = static_cast<double>(below_a) / static_cast<double>(n) -
                         static_cast<double>(below_b) / static_cast<double>(m);
    both.up.distance = std::max(both.up.distance, ahead);
    both.down.distance = std::max(both.down.distance, -ahead);
  }
  both.up.p = smirnov_p(both.up.distance, n, m);
  both.down.p = smirnov_p(both.down.distance, m, n);
  return both;
}

std::vector<double> holm(const std::vector<double>& p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t j) { return p[i] < p[j]; });
  std::vector<double> adjusted(p.size());
  double least = 0;
  for (size_t k = 0; k < order.size(); ++k) {
    least = std::max(least, std::min(1.0, p[order[k]] * static_cast<double>(p.size() - k)));
    adjusted[order[k]] = least;
  }
  return adjusted;
}

int quantile(const RatioCounts& ratios, double rank) {
  const auto wanted =
      static_cast<size_t>(std::max(1.0, std::ceil(rank * static_cast<double>(ratios.samples()))));
  size_t below = 0;
  for (const auto& [bin, samples] : scale_of(ratios)) {
    below += samples;
    if (below >= wanted) return bin;
  }
  return below_all;
}

}  // namespace gdn
