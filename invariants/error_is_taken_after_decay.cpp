// Claim:   with v = 0 and beta = 1 a token erases what the state holds under its key, to nothing.
// Why:     d = -u with u = S^T k of the decayed S, so that S + k d^T holds 0 along a unit key.
// Bound:   the reference's on this token, around 0.
// Origin:  the error taken from the state before it decays: S = 1, g = ln 1/2 leaves -1/2.
#include <algorithm>
#include <cmath>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

constexpr float ln_half = -0.693147180559945F;

bool applies(const Case& c) { return c.subject == Subject::delta_rule && c.calls.empty(); }

// The key is a unit vector along row `row` of a state of powers of two; other rows only decay.
Verdict erased(const Case& c, const Lab& lab, int64_t kd, int64_t vd, int64_t row, float g) {
  const auto cells = static_cast<size_t>(kd * vd);
  std::vector<float> key(static_cast<size_t>(kd), 0.0F);
  key[static_cast<size_t>(row)] = 1;
  std::vector<float> S(cells);
  for (size_t i = 0; i < cells; ++i) S[i] = i % 3 == 0 ? 1.0F : -0.25F;
  const Worked token =
      work(lab, worked_case(c, Subject::delta_rule, with_heads(c.shape, 1, kd, 1, vd),
                            {{"q", key},
                             {"k", key},
                             {"v", std::vector<float>(static_cast<size_t>(vd), 0.0F)},
                             {"g", {g}},
                             {"beta", {1}},
                             {"S", S}}));
  if (!token.served.holds()) return token.served;
  std::vector<double> left(cells);
  for (size_t i = 0; i < cells; ++i) {
    const bool erased_row = static_cast<int64_t>(i) / vd == row;
    left[i] = erased_row ? 0 : S[i] * std::exp(double{g});
  }
  return both(token.is("o", std::vector<double>(static_cast<size_t>(vd), 0.0)),
              token.is("S", left));
}

Verdict check(const Case& c, const Lab& lab) {
  Rng rng = Rng{c.seed}.stream("erased");
  const int64_t kd = std::min<int64_t>(c.shape.head_k_dim, 32);
  const int64_t vd = std::min<int64_t>(c.shape.head_v_dim, 32);
  // kd = vd = 1: S = 1, k = q = 1, g = ln 1/2 gives o = 0 and S = 1/2 - 1/2 = 0.
  const Verdict one = erased(c, lab, 1, 1, 0, ln_half);
  if (!one.holds()) return one;
  const float g = -rng.unit() * 4;
  return both(one, erased(c, lab, kd, vd, 0, ln_half), erased(c, lab, kd, vd, kd - 1, g));
}

const Registered self{{.claim = "the error of a token is taken after the state has decayed",
                       .applies = applies,
                       .check = check,
                       .kills = {"error_before_decay"}}};

}  // namespace
}  // namespace gdn
