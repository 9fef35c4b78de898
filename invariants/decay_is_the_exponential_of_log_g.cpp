// Claim:   with beta = 0 a token multiplies the state by exp(g) and reads that: o = exp(g) S^T q.
// Why:     g is a logarithm, taken once; nothing is written where beta is 0.
// Bound:   the reference's, around values worked out from a table of exponentials.
// Origin:  g used as the decay itself (-0.693 for 1/2), or exponentiated twice (1.649).
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

// exp(g), to the last digit of a double, of g that float32 holds.
struct Decay {
  float g;
  double alpha;
};
// The float32 next to ln 1/2 is 1.9047e-9 below it, so that its exponential is 1/2 less 9.523e-10.
constexpr Decay decays[] = {{0.0F, 1.0},
                            {-0.693147180559945F, 0.49999999904767284},
                            {-0.5F, 0.60653065971263342},
                            {-1.0F, 0.36787944117144233},
                            {-4.0F, 0.018315638888734179},
                            {-20.0F, 2.0611536224385579e-09}};
constexpr int64_t decay_count = sizeof(decays) / sizeof(decays[0]);

bool applies(const Case& c) { return c.subject == Subject::delta_rule && c.calls.empty(); }

// Head h decays by row `first` + h of the table, so that no head can use another's.
Verdict check(const Case& c, const Lab& lab) {
  const Rng rng{c.seed};
  const int64_t vh = std::min<int64_t>(c.shape.num_v_heads, decay_count);
  const Shape shape = with_heads(c.shape, 1, std::min<int64_t>(c.shape.head_k_dim, 32), vh,
                                 std::min<int64_t>(c.shape.head_v_dim, 32));
  const int64_t kd = shape.head_k_dim;
  const int64_t vd = shape.head_v_dim;
  Arrays in = {{"q", draw(rng.stream("q"), Pattern::dyadic, kd, 0)},
               {"k", draw(rng.stream("k"), Pattern::dyadic, kd, 0)},
               {"v", draw(rng.stream("v"), Pattern::dyadic, shape.v_dim(), 0)},
               {"g", {}},
               {"beta", std::vector<float>(static_cast<size_t>(vh), 0.0F)},
               {"S", draw(rng.stream("S"), Pattern::dyadic, shape.state_count(), 0)}};
  const int64_t first = rng.stream("first").range(0, decay_count - 1);
  std::vector<double> S, o(static_cast<size_t>(shape.v_dim()), 0.0);
  for (int64_t h = 0; h < vh; ++h) {
    const Decay& decay = decays[(first + h) % decay_count];
    in["g"].push_back(decay.g);
    for (int64_t i = 0; i < kd * vd; ++i) {
      S.push_back(decay.alpha * in["S"][static_cast<size_t>(h * kd * vd + i)]);
      o[static_cast<size_t>(h * vd + i % vd)] += S.back() * in["q"][static_cast<size_t>(i / vd)];
    }
  }
  const Worked token = work(lab, worked_case(c, Subject::delta_rule, shape, in));
  if (!token.served.holds()) return token.served;
  return both(token.is("S", S), token.is("o", o));
}

const Registered self{{.claim = "the state decays by exp(g), and by nothing else where beta is 0",
                       .applies = applies,
                       .check = check,
                       .kills = {"gate_log_as_linear", "gate_exponentiated_twice"}}};

}  // namespace
}  // namespace gdn
