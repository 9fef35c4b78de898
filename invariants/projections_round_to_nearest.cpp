// Claim:   the errors of a projection are those of rounding to nearest: they take no side, and are
//          no larger than sums of so many roundings make them.
// Why:     roundings that take no side average out, so that long sums err like the root of what the
//          proven bound allows; a wrong rounding mode or a short accumulator hides beneath it.
// Bound:   the statistical tier: suspicious, never failing, at odds of 1e-9 a tensor.
// Origin:  accumulators that truncate, or hold fewer bits than float32.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool is_projection(const Case& c) {
  return c.subject == Subject::in_proj || c.subject == Subject::out_proj;
}

bool applies(const Case& c) {
  if (c.dialect.activation != Dialect::Activation::f32) return false;
  if (is_projection(c)) return c.calls.empty();
  return c.subject == Subject::layer && c.tokens >= 1 &&
         std::max(c.shape.hidden_size, c.shape.v_dim()) >= long_sum_terms;
}

Verdict check(const Case& c, const Lab& lab) {
  return judge_roundings(is_projection(c) ? wide_projection(c) : c, lab);
}

const Registered self{
    {.claim = "projections err as rounding to nearest does",
     .applies = applies,
     .check = check,
     .suspects = {"sums_in_22_bits", "sums_rounded_downward", "sums_rounded_toward_zero"},
     .one_in = 2,
     .searched_layers_one_in = 16,
     .searched_others_one_in = 16}};

}  // namespace
}  // namespace gdn
