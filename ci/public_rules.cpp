// The rules as formulas. Their tolerances are those suites' own, not ours: they decide nothing here
// but what such a suite would have said.
#ifdef __FAST_MATH__
#error "rules need IEEE arithmetic: build without fast math"
#endif

#include "ci/public_rules.h"

#include <algorithm>
#include <cmath>

namespace gdn {
namespace {

constexpr PublicRule rules[public_rule_count] = {
    {"nmse_1e-7", 'N', "sum of squared errors at most 1e-7 of the sum of squares, all pooled"},
    {"rms_ratio_0.5%", 'R', "RMS of the error at most 0.5 % of that of the reference"},
    {"rms_ratio_1%", 'r', "RMS of the error at most 1 % of that of the reference"},
    {"allclose_1e-2", '1', "|got - want| <= 1e-2 + 1e-2 |want| for each element"},
    {"allclose_2e-3", '2', "|got - want| <= 2e-3 + 2e-3 |want| for each element"},
    {"allclose_3e-2", '3', "|got - want| <= 3e-2 + 3e-2 |want| for each element"},
    {"max_rel_1e-4", 'M', "largest error at most 1e-4 of the largest element of the reference"},
};

struct Sums {
  double error_squares = 0, squares = 0, error_max = 0, want_max = 0;
  bool complete = true;  // every number that is wanted is there, and finite
  size_t judged = 0;
};

Sums sums_of(const Compared& one) {
  Sums sums;
  sums.complete = one.got.size() == one.want.size();
  for (size_t i = 0; sums.complete && i < one.want.size(); ++i) {
    const double want = one.want[i], got = one.got[i];
    if (std::isnan(want)) continue;
    if (!std::isfinite(got)) sums.complete = false;
    const double error = std::abs(got - want);
    sums.error_squares += error * error;
    sums.squares += want * want;
    sums.error_max = std::max(sums.error_max, error);
    sums.want_max = std::max(sums.want_max, std::abs(want));
    ++sums.judged;
  }
  return sums;
}

bool all_close(const Compared& one, double tolerance) {
  for (size_t i = 0; i < one.want.size(); ++i) {
    const double want = one.want[i];
    if (std::isnan(want)) continue;
    if (!(std::abs(one.got[i] - want) <= tolerance + tolerance * std::abs(want))) return false;
  }
  return true;
}

}  // namespace

std::span<const PublicRule, public_rule_count> public_rules() { return rules; }

RuleSet rejecting(const std::vector<Compared>& run) {
  RuleSet rejected;
  Sums pooled;
  // Squares and roots are compared as squares: no division, and 0 <= 0 accepts what is right.
  const auto at_most = [](double error, double limit) { return error <= limit; };
  for (const Compared& one : run) {
    const Sums sums = sums_of(one);
    if (!sums.complete) return RuleSet().set();
    pooled.error_squares += sums.error_squares;
    pooled.squares += sums.squares;
    if (!at_most(sums.error_squares, 0.005 * 0.005 * sums.squares)) rejected.set(1);
    if (!at_most(sums.error_squares, 0.01 * 0.01 * sums.squares)) rejected.set(2);
    if (!all_close(one, 1e-2)) rejected.set(3);
    if (!all_close(one, 2e-3)) rejected.set(4);
    if (!all_close(one, 3e-2)) rejected.set(5);
    if (!at_most(sums.error_max, 1e-4 * sums.want_max)) rejected.set(6);
  }
  if (!at_most(pooled.error_squares, 1e-7 * pooled.squares)) rejected.set(0);
  return rejected;
}

}  // namespace gdn
