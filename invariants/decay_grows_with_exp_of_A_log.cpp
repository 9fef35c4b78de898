// Claim:   g = -exp(A_log) softplus(x): A_log more by s makes g exp(s) times as large.
// Why:     A_log is a logarithm; what multiplies softplus is its exponential, and negative.
// Bound:   the reference's, around literals; of two answers of the engine, each one's own.
// Origin:  A_log used as it stands, with which the state grows 7.39-fold at A_log = 2.
#include <cmath>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

// exp(A_log) of a few A_log, to the last digit of a double.
struct Amplitude {
  float A_log;
  double value;
};
constexpr Amplitude amplitudes[] = {{-8.0F, 0.00033546262790251185},
                                    {-1.0F, 0.36787944117144233},
                                    {0.0F, 1.0},
                                    {2.0F, 7.3890560989306504},
                                    {4.0F, 54.598150033144236}};

bool applies(const Case& c) {
  return c.subject == Subject::gates && c.calls.empty() &&
         c.dialect.gate_input == Dialect::GateInput::raw_a;
}

// softplus(x) = 1 at x = ln(e - 1) = 0.541324854612918; the float32 next to it is 7.16e-10 less,
// and there softplus is less by sigmoid(x) = 1 - 1/e of that.
Verdict literals(const Case& c, const Lab& lab) {
  const float x = 0.541324854612918F;
  const double softplus = 1 - (0.541324854612918 - x) * (1 - 1 / 2.718281828459045);
  Arrays in;
  std::vector<double> g;
  for (const Amplitude& amplitude : amplitudes) {
    in["a"].push_back(x);
    in["dt_bias"].push_back(0);
    in["b"].push_back(0);
    in["A_log"].push_back(amplitude.A_log);
    g.push_back(-amplitude.value * softplus);
  }
  const Shape shape = with_heads(c.shape, 1, 1, static_cast<int64_t>(g.size()), 1);
  const Worked gates = work(lab, worked_case(c, Subject::gates, shape, in));
  return gates.served.holds() ? gates.is("g", g) : gates.served;
}

// The case's own gates, then with 2 more in each A_log: judged where both are ordinary numbers.
Verdict shifted(const Case& c, const Lab& lab) {
  std::string why;
  const std::optional<Numbers> numbers = materialise(c, &why);
  if (!numbers) return claim(true, "");
  const std::vector<float>& A_log = numbers->arrays.at("A_log");
  std::vector<float> more = A_log;
  for (float& x : more) x += 2;
  const Worked before = work(lab, c);
  if (!before.served.holds()) return before.served;
  const Worked after = work(lab, c.with_numbers("A_log", more));
  if (!after.served.holds()) return after.served;
  const std::vector<float>& was = before.got.at("g");
  std::vector<float> got;
  Bounded want;
  for (size_t i = 0; i < was.size(); ++i) {
    // The step that float32 really took, exact in double.
    const double factor = std::exp(double{more[i]} - A_log[i]);
    const double value = was[i] * factor;
    const double bound = before.want.at("g").bound_of(i) * factor + after.want.at("g").bound_of(i) +
                         std::ldexp(std::abs(value), -50);
    // Above 87 exp(A_log) may overflow where g does not: an engine may then say -infinity.
    const bool ordinary = more[i] < 87 && std::abs(value) < 0x1p126;
    if (!ordinary || !std::isfinite(bound)) continue;
    got.push_back(after.got.at("g")[i]);
    want.value.push_back(value);
    want.bound.push_back(bound);
  }
  return got.empty() ? claim(true, "") : within("g with 2 more in A_log", got, want);
}

Verdict check(const Case& c, const Lab& lab) {
  const Verdict table = literals(c, lab);
  return table.holds() ? both(table, shifted(c, lab)) : table;
}

const Registered self{{.claim = "the decay grows with the exponential of A_log",
                       .applies = applies,
                       .check = check,
                       .kills = {"raw_a_log"}}};

}  // namespace
}  // namespace gdn
