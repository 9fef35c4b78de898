// Did a distribution move? Smirnov's two-sample test, one-sided, on samples counted in bins.
#pragma once

#include <cstddef>
#include <vector>

#include "invariants/harness/ratio_counts.h"

namespace gdn {

// How far, at most, one sample's cumulative distribution lies below the other's, and how likely
// samples of one distribution would be that far apart or further.
struct Moved {
  double distance = 0;
  double p = 1;
};
// up: B is larger than A somewhere; down: smaller. A sample may be both, in different places.
struct MovedBoth {
  Moved up, down;
};
MovedBoth moved(const RatioCounts& a, const RatioCounts& b);

// P(distance >= `distance`) of two samples of these sizes from one continuous distribution: exact
// while their product is at most this, then Smirnov's limit exp(-2 d^2 nm / (n+m)). Ties, and bins
// are nothing else, only make the true probability smaller.
inline constexpr size_t exact_product_max = 4'000'000;
double smirnov_p(double distance, size_t n, size_t m);

// Holm's step-down correction: p-values such that comparing each with a level keeps the chance of
// any false alarm among them all at most that level, however they depend on each other.
std::vector<double> holm(const std::vector<double>& p);

// The power of two that the sample of this rank lies in, rank from 0 to 1 counted upwards:
// exponents, with exponent_min - 1 for zero and exponent_max + 1 for infinity.
int quantile(const RatioCounts& ratios, double rank);

}  // namespace gdn
