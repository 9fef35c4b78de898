// Claim:   finite inputs give beta in [0, 1] and g <= 0, and neither is ever NaN.
// Why:     sigmoid and -exp(A_log) softplus have these ranges; where exp(A_log) overflows or
//          softplus underflows, g is -exp(A_log + x), which does neither.
// Bound:   the ends of the ranges, each by the reference's bound of the element.
// Origin:  inf times 0 at A_log = 100, x = -200; two branches of softplus added under a mask.
#include <cmath>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

// Arguments at which exp, log1p or a threshold gives way, with every A_log below.
constexpr float arguments[] = {0.0F,   -0.0F,  20.0F,   -20.0F, 20.000002F, -20.000002F, 88.8F,
                               -88.8F, 104.0F, -104.0F, 200.0F, -200.0F,    1e4F,        -1e4F};
constexpr float amplitudes[] = {-100.0F, -5.0F, 0.0F, 60.0F, 88.0F, 100.0F};

bool applies(const Case& c) {
  return c.subject == Subject::gates && c.calls.empty() &&
         c.dialect.gate_input == Dialect::GateInput::raw_a;
}

Verdict in_range(const Worked& gates, const Arrays& in) {
  Verdict all = claim(true, "");
  for (size_t i = 0; i < in.at("a").size(); ++i) {
    const float a = in.at("a")[i];
    const float b = in.at("b")[i];
    const float A_log = in.at("A_log")[i];
    const float x = a + in.at("dt_bias")[i];
    const bool finite = std::isfinite(x) && std::isfinite(b) && std::isfinite(A_log);
    if (!finite) continue;
    const float beta = gates.got.at("beta")[i];
    const float g = gates.got.at("g")[i];
    const double beta_slack = gates.want.at("beta").bound_of(i);
    const double g_slack = gates.want.at("g").bound_of(i);
    const std::string at = "[" + std::to_string(i) + "] at b " + std::to_string(b) + ", x " +
                           std::to_string(x) + ", A_log " + std::to_string(A_log) + ": got ";
    // NaN lies in no range.
    all = both(std::move(all),
               claim(-beta_slack <= beta && beta <= 1 + beta_slack,
                     "beta" + at + std::to_string(beta) + ", expected 0 to 1"),
               claim(g <= g_slack, "g" + at + std::to_string(g) + ", expected 0 or less"));
  }
  return all;
}

Verdict check(const Case& c, const Lab& lab) {
  std::string why;
  const std::optional<Numbers> own = materialise(c, &why);
  Arrays table;
  for (const float x : arguments) {
    for (const float A_log : amplitudes) {
      // exp(A_log) may overflow where g does not, and an engine may then say -infinity.
      if (A_log > 87 && x >= -20 && x < 20) continue;
      table["a"].push_back(x / 2);
      table["dt_bias"].push_back(x / 2);
      table["b"].push_back(-x);
      table["A_log"].push_back(A_log);
    }
  }
  const auto heads = static_cast<int64_t>(table["a"].size());
  const Worked gates =
      work(lab, worked_case(c, Subject::gates, with_heads(c.shape, 1, 1, heads, 1), table));
  if (!gates.served.holds()) return gates.served;
  Verdict all = both(gates.within_bound("g"), in_range(gates, table));
  if (!own || !all.holds()) return all;
  const Worked drawn = work(lab, c);
  return drawn.served.holds() ? both(std::move(all), in_range(drawn, own->arrays)) : drawn.served;
}

const Registered self{{.claim = "gates of finite inputs are finite and in their ranges",
                       .applies = applies,
                       .check = check,
                       .kills = {"gate_overflow_gives_nan", "softplus_blends_both_branches"}}};

}  // namespace
}  // namespace gdn
