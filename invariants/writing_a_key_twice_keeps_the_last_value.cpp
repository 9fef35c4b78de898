// Claim:   g = 0, beta = 1 and a unit key: what is written is read back, and a second value under
//          the same key replaces the first.
// Why:     d = v - S^T k, so that S^T k becomes v whatever it was.
// Bound:   the reference's, around v itself: keys and values are dyadic, every sum is exact.
// Origin:  a plain sum of k v^T, which gives 6 after 1 and 5.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) {
  const bool alone = c.subject == Subject::delta_rule || c.subject == Subject::recurrent;
  return alone && c.calls.empty();
}

// Of length 1 exactly: four halves of either sign, or where there is no room one 1.
std::vector<float> unit_key(Rng rng, int64_t kd) {
  std::vector<float> key(static_cast<size_t>(kd), 0.0F);
  if (kd < 4) {
    key.back() = 1;
    return key;
  }
  const int64_t stride = kd / 4;
  const int64_t first = rng.range(0, stride - 1);
  for (int64_t i = 0; i < 4; ++i) {
    key[static_cast<size_t>(first + i * stride)] = rng.range(0, 1) == 0 ? 0.5F : -0.5F;
  }
  return key;
}

// Two tokens in one call of the recurrence.
Verdict in_one_call(const Case& c, const Lab& lab, const Shape& shape,
                    const std::vector<float>& key, const std::vector<float>& first,
                    const std::vector<float>& second) {
  const auto twice = [](std::vector<float> a, const std::vector<float>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  const auto cells = static_cast<size_t>(shape.state_count());
  const Worked tokens = work(lab, worked_case(c, Subject::recurrent, shape,
                                              {{"q", twice(key, key)},
                                               {"k", twice(key, key)},
                                               {"v", twice(first, second)},
                                               {"g", {0, 0}},
                                               {"beta", {1, 1}},
                                               {"S", std::vector<float>(cells, 0.0F)}},
                                              2));
  if (!tokens.served.holds()) return tokens.served;
  const std::vector<float> read = twice(first, second);
  return tokens.is("o", std::vector<double>(read.begin(), read.end()));
}

Verdict check(const Case& c, const Lab& lab) {
  const Rng rng{c.seed};
  const int64_t vd = std::min<int64_t>(c.shape.head_v_dim, 32);
  const Shape shape = with_heads(c.shape, 1, std::min<int64_t>(c.shape.head_k_dim, 64), 1, vd);
  const std::vector<float> key = unit_key(rng.stream("key"), shape.head_k_dim);
  std::vector<float> first = draw(rng.stream("first"), Pattern::dyadic, vd, 0);
  std::vector<float> second = draw(rng.stream("second"), Pattern::dyadic, vd, 0);
  first[0] = 1;
  second[0] = 5;
  if (c.subject == Subject::recurrent) return in_one_call(c, lab, shape, key, first, second);
  std::vector<float> S(static_cast<size_t>(shape.state_count()), 0.0F);
  Verdict all = claim(true, "");
  for (const std::vector<float>& v : {first, second}) {
    const Worked token = work(
        lab, worked_case(c, Subject::delta_rule, shape,
                         {{"q", key}, {"k", key}, {"v", v}, {"g", {0}}, {"beta", {1}}, {"S", S}}));
    if (!token.served.holds()) return token.served;
    all = both(std::move(all), token.is("o", std::vector<double>(v.begin(), v.end())));
    S = token.got.at("S");
  }
  return all;
}

const Registered self{{.claim = "a second value under the same unit key replaces the first",
                       .applies = applies,
                       .check = check,
                       .kills = {"plain_sum_without_error", "output_from_the_old_state"}}};

}  // namespace
}  // namespace gdn
