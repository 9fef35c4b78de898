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

std::string_view limit_rule_name(size_t rule) {
  return rule == 0 ? "proven bound" : public_rules()[rule - 1].name;
}

bool pools_tensors(size_t rule) {
  return rule > 0 && public_rules()[rule - 1].kind == PublicRule::Kind::nmse;
}

bool refuses(size_t rule, const Pooled& pool, float got, float moved, const Bounded& want,
             size_t index) {
  if (!std::isfinite(moved)) return true;
  if (rule == 0) {
    const float one[] = {moved};
    return within("moved", one, slice(want, index, 1)).outcome == Outcome::fails;
  }
  const PublicRule& asked = public_rules()[rule - 1];
  const double threshold = asked.threshold;
  const double value = want.value[index];
  const double error = std::abs(moved - value);
  switch (asked.kind) {
    case PublicRule::Kind::nmse:
      return error_squares(pool, got, moved, value) > threshold * pool.want_squares;
    case PublicRule::Kind::rms_ratio:
      return error_squares(pool, got, moved, value) > square(threshold) * pool.want_squares;
    case PublicRule::Kind::allclose:
      return error > threshold * (1 + std::abs(value));
    case PublicRule::Kind::max_rel:
      return std::max(error, pool.largest_error) > threshold * pool.largest_want;
  }
  return false;
}

}  // namespace gdn
