// Claim:   far above 0 softplus(x) is x: g = -exp(A_log) x, and finite.
// Why:     log(1 + exp x) = x + log(1 + exp(-x)), and what is added is below 2.1e-9 from 20 on.
// Bound:   the reference's, around literals.
// Origin:  exp(x) overflows at 88.8: x = 100 with A_log = -5 must decay to 0.50977, not to 0.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

// exp(-5), exp(-20) and exp(-25), to the last digit of a double; from 40 on log(1 + exp(-x)) is
// below half a unit in the last place of x.
constexpr double exp_minus_5 = 0.0067379469990854671;
constexpr double exp_minus_20 = 2.0611536224385579e-09;
constexpr double exp_minus_25 = 1.3887943864964021e-11;
struct Literal {
  float x;
  double softplus;
};
// log(1 + e) is e - e^2 / 2 to more digits than are kept.
constexpr Literal literals[] = {{20.0F, 20 + exp_minus_20 - exp_minus_20* exp_minus_20 / 2},
                                {25.0F, 25 + exp_minus_25},
                                {40.0F, 40},
                                {88.0F, 88},
                                {89.0F, 89},
                                {100.0F, 100},
                                {1000.0F, 1000},
                                {1e6F, 1e6}};

bool applies(const Case& c) {
  return c.subject == Subject::gates && c.calls.empty() &&
         c.dialect.gate_input == Dialect::GateInput::raw_a &&
         c.dialect.softplus == Dialect::Softplus::log1p_thresholds;
}

// x comes as a + dt_bias; how it is shared out is drawn, in halves of a binade, so that the sum is
// exact.
Verdict check(const Case& c, const Lab& lab) {
  Rng rng = Rng{c.seed}.stream("shares");
  Arrays in;
  std::vector<double> g;
  for (const Literal& literal : literals) {
    const float share = literal.x * static_cast<float>(rng.range(0, 4)) / 4;
    in["a"].push_back(share);
    in["dt_bias"].push_back(literal.x - share);
    in["b"].push_back(0);
    in["A_log"].push_back(-5);
    g.push_back(-exp_minus_5 * literal.softplus);
  }
  const Shape shape = with_heads(c.shape, 1, 1, static_cast<int64_t>(g.size()), 1);
  const Worked gates = work(lab, worked_case(c, Subject::gates, shape, in));
  return gates.served.holds() ? gates.is("g", g) : gates.served;
}

const Registered self{{.claim = "softplus is the identity far above 0",
                       .applies = applies,
                       .check = check,
                       .kills = {"softplus_blends_both_branches", "softplus_without_threshold"}}};

}  // namespace
}  // namespace gdn
