// The rules themselves. A sum over many elements is updated for the one that moves.
#include "ci/limit_rules.h"

#include <algorithm>
#include <cmath>

#include "invariants/harness/verdict.h"
#include "reference/bound.h"

namespace gdn {
namespace {

double square(double x) { return x * x; }

// Of the pool with one element moved.
double error_squares(const Pooled& pool, double got, double moved, double want) {
  return pool.error_squares - square(got - want) + square(moved - want);
}

}  // namespace

void Pooled::add(std::span<const float> got, const Bounded& want) {
  for (size_t i = 0; i < got.size(); ++i) {
    const double error = std::abs(got[i] - want.value[i]);
    error_squares += square(error);
    want_squares += square(want.value[i]);
    largest_error = std::max(largest_error, error);
    largest_want = std::max(largest_want, std::abs(want.value[i]));
  }
}

bool refuses(const LimitRule& rule, const Pooled& pool, float got, float moved, const Bounded& want,
             size_t index) {
  const double value = want.value[index];
  const double error = std::abs(moved - value);
  if (!std::isfinite(moved)) return true;
  switch (rule.kind) {
    case LimitRule::Kind::bound: {
      const float one[] = {moved};
      return within("moved", one, slice(want, index, 1)).outcome == Outcome::fails;
    }
    case LimitRule::Kind::nmse:
      return error_squares(pool, got, moved, value) > rule.threshold * pool.want_squares;
    case LimitRule::Kind::rms_ratio:
      return error_squares(pool, got, moved, value) > square(rule.threshold) * pool.want_squares;
    case LimitRule::Kind::allclose:
      return error > rule.threshold * (1 + std::abs(value));
    case LimitRule::Kind::max_rel:
      return std::max(error, pool.largest_error) > rule.threshold * pool.largest_want;
  }
  return false;
}

}  // namespace gdn
