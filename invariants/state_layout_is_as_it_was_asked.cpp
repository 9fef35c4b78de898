// Claim:   the recurrence reads and writes a state in the layout that its caller names: what is 1
//          at [key a][value b] answers to the query e_a with e_b, and goes back to its place.
// Why:     [kd][vd] and [vd][kd] are the same memory in another order; square states hide which.
// Bound:   the reference's, around 0 and 1: every sum has one term.
// Origin:  one layout written and the other read.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::recurrent && c.calls.empty(); }

Verdict in_layout(const Case& c, const Lab& lab, const Shape& shape, Dialect::StateLayout layout) {
  const int64_t kd = shape.head_k_dim;
  const int64_t vd = shape.head_v_dim;
  Rng rng = Rng{c.seed}.stream("cell");
  const int64_t a = rng.range(0, kd - 1);
  const int64_t b = a == vd - 1 ? 0 : vd - 1;
  std::vector<float> q(static_cast<size_t>(kd), 0.0F);
  q[static_cast<size_t>(a)] = 1;
  std::vector<float> S(static_cast<size_t>(kd * vd), 0.0F);
  S[static_cast<size_t>(a * vd + b)] = 1;
  std::vector<double> o(static_cast<size_t>(vd), 0.0);
  o[static_cast<size_t>(b)] = 1;
  Case token = worked_case(c, Subject::recurrent, shape,
                           {{"q", q},
                            {"k", std::vector<float>(q.size(), 0.0F)},
                            {"v", std::vector<float>(o.size(), 0.0F)},
                            {"g", {0}},
                            {"beta", {0}},
                            {"S", S}},
                           1);
  token.dialect.state_layout = layout;
  const Worked worked = work(lab, token);
  if (!worked.served.holds()) return worked.served;
  return both(worked.is("o", o), worked.is("S", std::vector<double>(S.begin(), S.end())));
}

Verdict check(const Case& c, const Lab& lab) {
  const int64_t kd = std::min<int64_t>(c.shape.head_k_dim, 32);
  const int64_t vd = std::min<int64_t>(c.shape.head_v_dim, 32);
  const int64_t side = std::max<int64_t>(2, std::min(kd, vd));
  Verdict all;
  for (const Dialect::StateLayout layout : {Dialect::StateLayout::kv, Dialect::StateLayout::vk}) {
    for (const Shape& shape :
         {with_heads(c.shape, 1, kd, 1, vd), with_heads(c.shape, 1, side, 1, side)}) {
      Verdict one = in_layout(c, lab, shape, layout);
      // An engine may serve one layout alone.
      if (one.outcome == Outcome::not_applicable) continue;
      if (!one.holds()) return one;
      all = all.holds() ? both(std::move(all), std::move(one)) : std::move(one);
    }
  }
  return all;
}

const Registered self{{.claim = "a state is read and written in the layout that was asked for",
                       .applies = applies,
                       .check = check,
                       .kills = {"state_layout_ignored"},
                       .searched_others_one_in = 8}};

}  // namespace
}  // namespace gdn
