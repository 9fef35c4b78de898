// Claim:   with v = 0 no column of the state grows, whatever keys and queries come.
// Why:     a column becomes exp(g) (I - beta k k^T) of itself, which expands nothing for |k| <= 1,
//          0 <= beta <= 1 and g <= 0.
// Bound:   the norm before, and that of the reference's bounds of the column's elements.
// Origin:  keys that were not normalised: the state is beyond every number after some 20 tokens.
#include <algorithm>
#include <cmath>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::recurrent && c.calls.empty(); }

// The dialect of the layer's own norm, so that keys of any length come in.
Case driven_by_keys(const Case& c, const Shape& shape, int64_t tokens) {
  const Rng rng = Rng{c.seed}.stream("keys");
  const auto count = [tokens](int64_t of_token) { return tokens * of_token; };
  Arrays in = {{"q", draw(rng.stream("q"), Pattern::smooth, count(shape.k_dim()), 2)},
               {"k", draw(rng.stream("k"), Pattern::smooth, count(shape.k_dim()), 2)},
               {"v", std::vector<float>(static_cast<size_t>(count(shape.v_dim())), 0.0F)},
               {"g", draw(rng.stream("g"), Pattern::smooth, count(shape.num_v_heads), -6)},
               {"beta", draw(rng.stream("beta"), Pattern::smooth, count(shape.num_v_heads), 0)},
               {"S", draw(rng.stream("S"), Pattern::dyadic, shape.state_count(), 0)}};
  for (float& g : in["g"]) g = -std::abs(g);
  for (float& beta : in["beta"]) beta = std::abs(beta);
  Case driven = worked_case(c, Subject::recurrent, shape, in, tokens);
  driven.dialect.qk_norm = Dialect::QkNorm::sum_eps;
  return driven;
}

// |S_T| <= |S_T exact| + |bounds| <= |S_0| + |bounds|, by the triangle inequality.
Verdict check(const Case& c, const Lab& lab) {
  const int64_t tokens = Rng{c.seed}.stream("tokens").range(2, 40);
  const int64_t vh = std::min<int64_t>(c.shape.num_v_heads, 2);
  const Shape shape = with_heads(c.shape, 1, std::min<int64_t>(c.shape.head_k_dim, 16), vh,
                                 std::min<int64_t>(c.shape.head_v_dim, 16));
  const Case driven = driven_by_keys(c, shape, tokens);
  std::string why;
  const std::optional<Numbers> numbers = materialise(driven, &why);
  if (!numbers) return claim(false, why);
  const Worked run = work(lab, driven);
  if (!run.served.holds()) return run.served;
  const std::vector<float>& before = numbers->arrays.at("S");
  const std::vector<float>& after = run.got.at("S");
  const Bounded& want = run.want.at("S");
  // The reference itself must know: where it does not, within says so.
  if (std::any_of(want.bound.begin(), want.bound.end(), [](double b) { return std::isinf(b); })) {
    return within("S", after, want);
  }
  Verdict all = claim(true, "");
  const int64_t vd = shape.head_v_dim;
  for (int64_t column = 0; column < shape.v_dim(); ++column) {
    double was = 0;
    double is = 0;
    double slack = 0;
    for (int64_t r = 0; r < shape.head_k_dim; ++r) {
      const auto at = static_cast<size_t>((column / vd * shape.head_k_dim + r) * vd + column % vd);
      was += double{before[at]} * before[at];
      is += double{after[at]} * after[at];
      slack += want.bound_of(at) * want.bound_of(at);
    }
    // 2^-40 absorbs the rounding of these sums. Where the storage is narrow, each element is off
    // by half an ulp of bf16 at most, or in f16 by half its smallest subnormal.
    const bool narrow = want.stored != Format::f32;
    const double relative = narrow ? 0x1p-9 : 0;
    const double absolute = narrow ? 0x1p-25 * std::sqrt(shape.head_k_dim) : 0;
    const double most = (std::sqrt(was) + std::sqrt(slack)) * (1 + relative) + absolute;
    all = both(std::move(all),
               claim(std::sqrt(is) <= most * (1 + 0x1p-40),
                     "column " + std::to_string(column) + ": its norm after " +
                         std::to_string(tokens) + " tokens is " + std::to_string(std::sqrt(is)) +
                         ", it was " + std::to_string(std::sqrt(was))));
  }
  return all;
}

const Registered self{{.claim = "a state without input never grows",
                       .applies = applies,
                       .check = check,
                       .kills = {"keys_not_normalised"}}};

}  // namespace
}  // namespace gdn
