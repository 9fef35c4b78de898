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

using Kind = PublicRule::Kind;

constexpr PublicRule rules[public_rule_count] = {
    {Kind::nmse, 1e-7, "nmse_1e-7", 'N',
     "sum of squared errors at most 1e-7 of the sum of squares, all pooled"},
    {Kind::rms_ratio, 0.005, "rms_ratio_0.5%", 'R',
     "RMS of the error at most 0.5 % of that of the reference"},
    {Kind::rms_ratio, 0.01, "rms_ratio_1%", 'r',
     "RMS of the error at most 1 % of that of the reference"},
    {Kind::allclose, 1e-2, "allclose_1e-2", '1',
     "|got - want| <= 1e-2 + 1e-2 |want| for each element"},
    {Kind::allclose, 2e-3, "allclose_2e-3", '2',
     "|got - want| <= 2e-3 + 2e-3 |want| for each element"},
    {Kind::allclose, 3e-2, "allclose_3e-2", '3',
     "|got - want| <= 3e-2 + 3e-2 |want| for each element"},
    {Kind::max_rel, 1e-4, "max_rel_1e-4", 'M',
     "largest error at most 1e-4 of the largest element of the reference"},
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

// Squares and roots are compared as squares: no division, and 0 <= 0 accepts what is right.
bool accepts(const PublicRule& rule, const Compared& one, const Sums& sums, const Sums& pooled) {
  const double t = rule.threshold;
  switch (rule.kind) {
    case Kind::nmse:
      return pooled.error_squares <= t * pooled.squares;
    case Kind::rms_ratio:
      return sums.error_squares <= t * t * sums.squares;
    case Kind::allclose:
      return all_close(one, t);
    case Kind::max_rel:
      return sums.error_max <= t * sums.want_max;
  }
  return false;
}

}  // namespace

std::span<const PublicRule, public_rule_count> public_rules() { return rules; }

RuleSet rejecting(const std::vector<Compared>& run) {
  std::vector<Sums> parts;
  Sums pooled;
  for (const Compared& one : run) {
    const Sums& sums = parts.emplace_back(sums_of(one));
    if (!sums.complete) return RuleSet().set();
    pooled.error_squares += sums.error_squares;
    pooled.squares += sums.squares;
  }
  RuleSet rejected;
  for (size_t rule = 0; rule < public_rule_count; ++rule) {
    for (size_t i = 0; i < run.size(); ++i) {
      if (!accepts(rules[rule], run[i], parts[i], pooled)) rejected.set(rule);
    }
  }
  return rejected;
}

}  // namespace gdn
