// Claim:   from an empty state with beta = 1 a token reads what it has just written: o = v (k q).
// Why:     o = S^T q with S after the update.
// Bound:   the reference's, around products and sums of dyadic numbers, which are exact.
// Origin:  the output read from the state before it, which is 0.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::delta_rule && c.calls.empty(); }

Verdict check(const Case& c, const Lab& lab) {
  const Rng rng{c.seed};
  const int64_t kd = std::min<int64_t>(c.shape.head_k_dim, 64);
  const int64_t vh = std::min<int64_t>(c.shape.num_v_heads, 4);
  const Shape shape = with_heads(c.shape, 1, kd, vh, std::min<int64_t>(c.shape.head_v_dim, 64));
  std::vector<float> k = draw(rng.stream("k"), Pattern::dyadic, kd, 0);
  std::vector<float> q = draw(rng.stream("q"), Pattern::dyadic, kd, 0);
  const std::vector<float> v = draw(rng.stream("v"), Pattern::dyadic, shape.v_dim(), 0);
  // The first and the last row both count, whatever was drawn: q = (2, 1/4), k = (1, 2) on two
  // rows alone would give 5/2.
  q.front() = 2;
  q.back() = 0.25F;
  k.front() = 1;
  k.back() = 2;
  double product = 0;
  for (size_t r = 0; r < k.size(); ++r) product += double{k[r]} * q[r];
  std::vector<double> o;
  for (const float x : v) o.push_back(x * product);
  const auto heads = static_cast<size_t>(vh);
  const Worked token =
      work(lab, worked_case(c, Subject::delta_rule, shape,
                            {{"q", q},
                             {"k", k},
                             {"v", v},
                             {"g", std::vector<float>(heads, -1.0F)},
                             {"beta", std::vector<float>(heads, 1.0F)},
                             {"S", std::vector<float>(static_cast<size_t>(shape.state_count()))}}));
  return token.served.holds() ? token.is("o", o) : token.served;
}

const Registered self{{.claim = "the output of a token reads the state that the token has updated",
                       .applies = applies,
                       .check = check,
                       .kills = {"output_from_the_old_state"}}};

}  // namespace
}  // namespace gdn
