// Claim:   the gated norm of a head that is large beside eps does not change when the head is
//          doubled, and no other head changes by a bit.
// Why:     each head is divided by the root of its own mean square.
// Bound:   that of both runs, and what eps itself takes; equal bits of the other heads.
// Origin:  one mean square over all heads.
#include <algorithm>
#include <cmath>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) {
  return c.subject == Subject::gated_norm && c.calls.empty() && c.shape.num_v_heads > 1;
}

std::vector<float> head_of(const std::vector<float>& all, int64_t head, int64_t dim) {
  const auto begin = all.begin() + head * dim;
  return std::vector<float>(begin, begin + dim);
}

// o is odd numbers of sixteenths, none of them 0, with a mean square of at least 2^-8.
Verdict check(const Case& c, const Lab& lab) {
  const Rng rng{c.seed};
  const int64_t heads = std::min<int64_t>(c.shape.num_v_heads, 4);
  const int64_t dim = std::min<int64_t>(c.shape.head_v_dim, 64);
  const int64_t louder = rng.stream("head").range(0, heads - 1);
  const auto factor = static_cast<float>(1 << rng.stream("factor").range(1, 20));
  Arrays in = {{"o", draw(rng.stream("o"), Pattern::dyadic, heads * dim, 0)},
               {"z", draw(rng.stream("z"), Pattern::dyadic, heads * dim, 1)},
               {"weight", draw(rng.stream("weight"), Pattern::dyadic, dim, 0)}};
  for (float& x : in["o"]) x += 0.0625F;
  const Shape shape = with_heads(c.shape, 1, c.shape.head_k_dim, heads, dim);
  const Worked before = work(lab, worked_case(c, Subject::gated_norm, shape, in));
  if (!before.served.holds()) return before.served;
  double square = 0;
  for (int64_t i = louder * dim; i < (louder + 1) * dim; ++i) {
    float& x = in["o"][static_cast<size_t>(i)];
    square += double{x} * x / static_cast<double>(dim);
    x *= factor;
  }
  const Worked after = work(lab, worked_case(c, Subject::gated_norm, shape, in));
  if (!after.served.holds()) return after.served;
  // y grows by sqrt((m + eps) / (m + eps / factor^2)), which is below 1 + eps / (2 m).
  const double from_eps = double{c.shape.rms_norm_eps} / (2 * square);
  Verdict all = claim(true, "");
  for (int64_t head = 0; head < heads; ++head) {
    const std::vector<float> was = head_of(before.got.at("y"), head, dim);
    const std::vector<float> is = head_of(after.got.at("y"), head, dim);
    const std::string where = "y of head " + std::to_string(head);
    if (head != louder) {
      all = both(std::move(all), same_bits(where + " beside a louder one", is, was));
      continue;
    }
    Bounded want = exactly(was);
    for (int64_t i = 0; i < dim; ++i) {
      const auto at = static_cast<size_t>(head * dim + i);
      const double y = std::abs(want.value[static_cast<size_t>(i)]);
      const double bound = before.want.at("y").bound_of(at);
      want.bound.push_back(bound + after.want.at("y").bound_of(at) + (y + bound) * from_eps);
    }
    all = both(std::move(all),
               within(where + ", " + std::to_string(factor) + " times as loud", is, want));
  }
  return all;
}

const Registered self{{.claim = "a head is normed by itself, whatever its size",
                       .applies = applies,
                       .check = check,
                       .kills = {"norm_over_all_heads"}}};

}  // namespace
}  // namespace gdn
