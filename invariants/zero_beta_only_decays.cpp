// Claim:   with beta 0 neither S nor o depends on v or k, and S is the decayed state.
// Why:     d = 0 (v - u) is zero for every finite v and u, and S + k 0 is S.
// Bound:   equal bits, the sign of a zero aside; the decayed state within the reference's bound.
// Origin:  a write that ignores beta, or takes it before its sigmoid.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

constexpr int64_t tokens_max = 6;

bool applies(const Case& c) {
  return c.subject == Subject::delta_rule || (c.subject == Subject::recurrent && c.tokens >= 1);
}

// v - u stays finite in every token: no decay makes S grow, and none of v is large.
bool stays_finite(const Case& c) {
  const Extent gates = either(extent_of(array_of(c, "g")), extent_of(array_of(c, "gk")));
  const Extent u =
      sum_of(product(extent_of(array_of(c, "S")), extent_of(array_of(c, "k"))), c.shape.head_k_dim);
  const Extent error = sum(extent_of(array_of(c, "v")), u);
  return gates.finite && error.finite && error.highest < 127;
}

bool decays_only(const Case& c) {
  const bool linear =
      c.subject == Subject::recurrent && c.dialect.gate_input == Dialect::GateInput::linear_alpha;
  const std::vector<float> g = array_of(c, "g");
  const std::vector<float> gk = array_of(c, "gk");
  const auto at_most_one = [&](float x) {
    return x <= (linear ? 1.0F : 0.0F) && (!linear || x >= 0);
  };
  return std::all_of(g.begin(), g.end(), at_most_one) &&
         std::all_of(gk.begin(), gk.end(), [](float x) { return x <= 0; });
}

Verdict check(const Case& given, const Lab& lab) {
  std::string why;
  const std::optional<Case> full = recurrence_in_full(given, tokens_max, &why);
  if (!full) return not_applicable(why);
  const std::vector<float> beta(array_of(*full, "beta").size(), 0.0F);
  const Case c = full->with_numbers("beta", beta);
  if (!stays_finite(c) || !decays_only(c)) return not_applicable("v - u may overflow");
  std::vector<float> v = array_of(c, "v");
  std::vector<float> k = array_of(c, "k");
  std::reverse(v.begin(), v.end());
  std::reverse(k.begin(), k.end());
  for (float& x : v) x = -x;
  const Observation one = lab.run(c);
  const Observation other = lab.run(c.with_numbers("v", v).with_numbers("k", k));
  Verdict all = both(one.served(), other.served());
  if (!all.holds()) return all;
  for (size_t t = 0; t < one.calls.size(); ++t) {
    for (const char* name : {"S", "o"}) {
      all = both(std::move(all), same_bits(std::string(name) + " of token " + std::to_string(t) +
                                               " with other v and k",
                                           without_zero_signs(other.calls[t].arrays.at(name)),
                                           without_zero_signs(one.calls[t].arrays.at(name))));
    }
  }
  // The pieces of a sequence have no expectation of their own: the first token is asked about
  // alone.
  const std::optional<Case> first = recurrence_in_full(c, 1, &why);
  if (!first) return not_applicable(why);
  const Bounded& want = lab.expect(first->with_calls({})).calls.front().arrays.at("S");
  return both(std::move(all), within("S, decayed", one.calls.front().arrays.at("S"), want));
}

const Registered self{{.claim = "with beta 0 the state decays, whatever v and k are",
                       .applies = applies,
                       .check = check,
                       .kills = {"beta_ignored"},
                       .searched_others_one_in = 8}};

}  // namespace
}  // namespace gdn
