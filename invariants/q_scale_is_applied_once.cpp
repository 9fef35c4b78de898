// Claim:   q leaves its norm as k does, times 1/sqrt(kd): once, and k is not scaled.
// Why:     the scale stands on q alone, after the norm.
// Bound:   the reference's, around 1/sqrt(kd) for a long unit vector and 1 for the same as a key.
// Origin:  scaled in the norm and again by the caller; scaled by neither.
#include <cmath>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) {
  return c.subject == Subject::qk_norm && c.calls.empty() &&
         c.dialect.qk_norm == Dialect::QkNorm::sum_eps &&
         c.dialect.scale_on == Dialect::ScaleOn::q && !c.dialect.scale;
}

// q and k are 2^10 at one place a head, the first and the last among them: beside a square of 2^20
// eps is 2^-20 eps of the length's square, so that half of that is missing from 1.
Verdict scaled(const Case& c, const Lab& lab, int64_t kd) {
  const int64_t heads = 3;
  Arrays in = {{"q", std::vector<float>(static_cast<size_t>(heads * kd), 0.0F)}};
  const int64_t places[heads] = {0, kd - 1, Rng{c.seed}.stream("place").range(0, kd - 1)};
  const double one = 1 / std::sqrt(1 + std::ldexp(double{c.shape.l2norm_eps}, -20));
  std::vector<double> k(in["q"].size(), 0.0);
  for (int64_t head = 0; head < heads; ++head) {
    const auto at = static_cast<size_t>(head * kd + places[head]);
    in["q"][at] = 1024;
    k[at] = one;
  }
  in["k"] = in["q"];
  std::vector<double> q = k;
  for (double& x : q) x /= std::sqrt(static_cast<double>(kd));
  const Worked normed =
      work(lab, worked_case(c, Subject::qk_norm, with_heads(c.shape, heads, kd, heads, 1), in));
  if (!normed.served.holds()) return normed.served;
  return both(normed.is("q", q), normed.is("k", k));
}

// 1/sqrt(16) = 1/4 by hand; then the case's own width, where 1 would tell nothing.
Verdict check(const Case& c, const Lab& lab) {
  const Verdict four = scaled(c, lab, 16);
  return four.holds() ? both(four, scaled(c, lab, c.shape.head_k_dim)) : four;
}

const Registered self{{.claim = "q is scaled by 1/sqrt(kd) once, and k is not",
                       .applies = applies,
                       .check = check,
                       .kills = {"q_scale_twice", "q_scale_missing"}}};

}  // namespace
}  // namespace gdn
