// Rules by which public test suites accept a tensor, as far as one element of it is moved: what the
// proven bound is measured against. They compare with the exact value, as we do.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "reference/bound.h"

namespace gdn {

struct LimitRule {
  enum class Kind : unsigned char {
    bound,      // each element within its proven bound
    nmse,       // sum of squared errors / sum of squares, output and state in one
    rms_ratio,  // the root of the same, of one tensor
    allclose,   // |error| <= t + t |want|, each element
    max_rel,    // largest |error| / largest |want|
  };
  Kind kind = Kind::bound;
  double threshold = 0;
  std::string_view name;
};

// Thresholds as the suites have them; 16-bit storage is what the loosest are meant for.
inline constexpr std::array<LimitRule, 8> limit_rules = {{
    {LimitRule::Kind::bound, 0, "proven bound"},
    {LimitRule::Kind::nmse, 1e-7, "NMSE 1e-7"},
    {LimitRule::Kind::rms_ratio, 0.005, "RMS 0.5 %"},
    {LimitRule::Kind::rms_ratio, 0.01, "RMS 1 %"},
    {LimitRule::Kind::allclose, 2e-3, "allclose 2e-3"},
    {LimitRule::Kind::allclose, 1e-2, "allclose 1e-2"},
    {LimitRule::Kind::allclose, 3e-2, "allclose 3e-2"},
    {LimitRule::Kind::max_rel, 1e-4, "max_rel 1e-4"},
}};

// What a rule that pools elements knows of those that stay as they are.
struct Pooled {
  double error_squares = 0, want_squares = 0, largest_error = 0, largest_want = 0;

  void add(std::span<const float> got, const Bounded& want);
};

// Does the rule refuse `moved` in the place of got[index]? The pool is that of the tensors that the
// rule takes together, `got` as it was among them.
bool refuses(const LimitRule& rule, const Pooled& pool, float got, float moved, const Bounded& want,
             size_t index);

}  // namespace gdn
