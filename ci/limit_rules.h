// Rules by which public test suites accept a tensor, as far as one element of it is moved: what the
// proven bound is measured against. They compare with the exact value, as we do.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "ci/public_rules.h"
#include "reference/bound.h"

namespace gdn {

// 0 is the proven bound; the others are public_rules(), in their order.
inline constexpr size_t limit_rule_count = 1 + public_rule_count;
std::string_view limit_rule_name(size_t rule);
// Does it take the tensors of an operator as one?
bool pools_tensors(size_t rule);

// What a rule that pools elements knows of those that stay as they are.
struct Pooled {
  double error_squares = 0, want_squares = 0, largest_error = 0, largest_want = 0;

  void add(std::span<const float> got, const Bounded& want);
};

// Does the rule refuse `moved` in the place of got[index]? The pool is that of the tensors that the
// rule takes together, `got` as it was among them.
bool refuses(size_t rule, const Pooled& pool, float got, float moved, const Bounded& want,
             size_t index);

}  // namespace gdn
