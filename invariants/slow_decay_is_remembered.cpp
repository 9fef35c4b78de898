// Claim:   a state that loses 0.15 % a token is 0.0021364 of itself after 4096 tokens, and with
//          decays as slow as 1e-6 a token it is there still.
// Why:     beta = 0, so that S_T = exp(sum of g) S: a decay near 1 has to keep its digits.
// Bound:   the reference's over the whole sequence, around exp(T g) in double.
// Origin:  a decay held in bf16, where 0.9985 is 1: nothing is ever forgotten.
#include <cmath>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::recurrent && c.calls.empty(); }

// One number of state, decayed by g for all the tokens of one call.
Verdict remembered(const Case& c, const Lab& lab, int64_t tokens, float g) {
  const auto count = static_cast<size_t>(tokens);
  const std::vector<float> ones(count, 1.0F);
  const Worked run = work(lab, worked_case(c, Subject::recurrent, with_heads(c.shape, 1, 1, 1, 1),
                                           {{"q", ones},
                                            {"k", ones},
                                            {"v", ones},
                                            {"g", std::vector<float>(count, g)},
                                            {"beta", std::vector<float>(count, 0.0F)},
                                            {"S", {1}}},
                                           tokens));
  if (!run.served.holds()) return run.served;
  std::vector<double> o;
  for (int64_t t = 1; t <= tokens; ++t) o.push_back(std::exp(static_cast<double>(t) * g));
  return both(run.is("S", {o.back()}), run.is("o", o));
}

// ln 0.9985 = -0.00150112627: exp(4096 g) = 0.0021364.
Verdict check(const Case& c, const Lab& lab) {
  Rng rng = Rng{c.seed}.stream("decay");
  const Verdict literal = remembered(c, lab, 4096, -0.00150112627F);
  if (!literal.holds()) return literal;
  const float slow = -std::ldexp(1 + rng.unit(), static_cast<int>(rng.range(-20, -8)));
  return both(literal, remembered(c, lab, rng.range(100, 1000), slow));
}

const Registered self{{.claim = "a slow decay is remembered over thousands of tokens",
                       .applies = applies,
                       .check = check,
                       .kills = {"decay_held_in_bf16"},
                       .one_in = 32}};

}  // namespace
}  // namespace gdn
