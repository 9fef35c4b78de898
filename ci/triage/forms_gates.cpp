// Faults of the gates: beta = sigmoid(b), g = -exp(A_log) softplus(a + dt_bias).
#include <algorithm>
#include <cmath>

#include "ci/triage/ball.h"
#include "ci/triage/right_of.h"

namespace gdn {
namespace {

FaultForm other_input(std::string name, std::string sentence,
                      std::function<void(Evidence& at)> change, double choices = 1,
                      std::vector<std::string> explains = {}) {
  return altered(
      std::move(name), std::move(sentence), Operator::gates,
      [change = std::move(change)](Evidence& at, OperatorRun&) {
        change(at);
        return true;
      },
      std::move(explains), choices);
}

void fill(std::vector<float>& x, float with) { std::fill(x.begin(), x.end(), with); }

const RegisteredForm inputs[] = {
    other_input("beta_from_a", "beta is computed from a and the decay from b",
                [](Evidence& at) { std::swap(at.fed["a"], at.fed["b"]); }, 1, {"a_and_b_swapped"}),
    other_input(
        "beta_of_a_too", "beta is computed from a, as the decay is",
        [](Evidence& at) { at.fed["b"] = at.fed["a"]; }, rarely_made),
    other_input(
        "decay_from_b", "the decay is computed from b, as beta is",
        [](Evidence& at) { at.fed["a"] = at.fed["b"]; }, rarely_made),
    other_input("a_log_of_the_first_head", "every head takes the A_log of the first",
                [](Evidence& at) { fill(at.fed["A_log"], at.fed["A_log"].front()); }),
    other_input("dt_bias_of_the_first_head", "every head takes the dt_bias of the first",
                [](Evidence& at) { fill(at.fed["dt_bias"], at.fed["dt_bias"].front()); }),
    other_input("dt_bias_left_out", "dt_bias is left out",
                [](Evidence& at) { fill(at.fed["dt_bias"], 0); }),
    other_input("a_log_left_out", "A_log counts as 0",
                [](Evidence& at) { fill(at.fed["A_log"], 0); }),
    other_input(
        "a_log_and_dt_bias_swapped", "A_log and dt_bias change places",
        [](Evidence& at) { std::swap(at.fed["A_log"], at.fed["dt_bias"]); }, rarely_made),
    other_input("dt_bias_subtracted", "dt_bias is subtracted",
                [](Evidence& at) {
                  for (float& x : at.fed["dt_bias"]) x = -x;
                }),
    other_input("a_log_negated", "the decay uses exp(-A_log)",
                [](Evidence& at) {
                  for (float& x : at.fed["A_log"]) x = -x;
                }),
    other_input("beta_complemented", "beta is 1 - sigmoid(b)", [](Evidence& at) {
      for (float& x : at.fed["b"]) x = -x;
    })};

// One head by the book, for other formulas.
struct GateHead {
  Ball a, b, A_log, x;  // x = a + dt_bias
};
using GateRule = std::function<Ball(const GateHead&, const Contract&)>;

// Another formula for beta or g; the other of the two is right. Where it has no bound of its own
// here, NaN as a value with an infinite bound, the right one stands.
FaultForm formula(std::string name, std::string sentence, const char* array, GateRule rule,
                  double choices = 1) {
  const auto expect = [array, rule = std::move(rule)](
                          const Evidence& at,
                          const OperatorRun& run) -> std::optional<FaultyArrays> {
    const std::vector<float>& a = at.fed.at("a");
    const std::vector<float>& b = at.fed.at("b");
    std::vector<Ball> result;
    for (size_t i = 0; i < a.size(); ++i) {
      const Ball x = exact_ball(a[i]) + exact_ball(at.fed.at("dt_bias")[i]);
      result.push_back(
          rule({exact_ball(a[i]), exact_ball(b[i]), exact_ball(at.fed.at("A_log")[i]), x},
               run.contract));
    }
    return FaultyArrays{{array, bounded_from(result)}};
  };
  return {std::move(name), std::move(sentence), Operator::gates, expect, {}, choices};
}

// softplus and the gate by the book; far below 0 in one exponential, as a right engine.
Ball softplus_of(const Ball& x, const Contract& contract) {
  if (x.value > 20) return {x.value, x.bound + std::exp(-x.value)};
  const Ball e = exp_of(x, contract);
  return x.value < -20 ? e : log1p_of(e, contract);
}

Ball gate_of(const GateHead& h, const Contract& contract) {
  if (h.x.value < -20) return -exp_of(h.A_log + h.x, contract);
  return -(exp_of(h.A_log, contract) * softplus_of(h.x, contract));
}

// What exp(x) is as a float32 of its own: infinite from 88.72 on.
Ball plain_softplus(const Ball& x, const Contract& contract) {
  const Ball e = exp_of(x, contract);
  if (!std::isfinite(e.value)) return e;
  // log1p(exp x) where exp x is large: a relative error of exp moves it absolutely.
  return log1p_of(e, contract);
}

const RegisteredForm formulas[] = {
    formula("beta_without_sigmoid", "beta is b without the sigmoid", "beta",
            [](const GateHead& h, const Contract&) { return h.b; }),
    formula("beta_sigmoid_twice", "beta is the sigmoid of a sigmoid", "beta",
            [](const GateHead& h, const Contract& c) { return sigmoid_of(sigmoid_of(h.b, c), c); }),
    formula(
        "beta_doubled", "beta is twice the sigmoid", "beta",
        [](const GateHead& h, const Contract& c) {
          const Ball beta = sigmoid_of(h.b, c);
          return Ball{2 * beta.value, 2 * beta.bound};
        },
        rarely_made),
    formula(
        "beta_with_silu", "beta is silu(b) in place of sigmoid(b)", "beta",
        [](const GateHead& h, const Contract& c) { return silu_of(h.b, c); }, rarely_made),
    formula("gate_overflow_gives_nan",
            "exp(A_log) and exp(x) are multiplied below -20, infinity times 0 or a lost digit", "g",
            [](const GateHead& h, const Contract& c) {
              if (h.x.value + h.x.bound >= -20) return gate_of(h, c);
              return -(exp_of(h.A_log, c) * exp_of(h.x, c));
            }),
    formula("softplus_blends_both_branches",
            "softplus adds both of its branches under weights 0 and 1: 0 times infinity", "g",
            [](const GateHead& h, const Contract& c) {
              if (h.x.value <= 20) return gate_of(h, c);
              const Ball below = plain_softplus(h.x, c);
              if (below.bound == infinity) return below;
              const Ball blended = h.x + exact_ball(0) * below;
              return -(exp_of(h.A_log, c) * blended);
            }),
    formula("softplus_without_threshold", "softplus has no branch above 20, so that exp overflows",
            "g",
            [](const GateHead& h, const Contract& c) {
              if (h.x.value < -20) return gate_of(h, c);
              return -(exp_of(h.A_log, c) * plain_softplus(h.x, c));
            }),
    formula("softplus_left_out", "g is -exp(A_log) x without softplus", "g",
            [](const GateHead& h, const Contract& c) { return -(exp_of(h.A_log, c) * h.x); }),
    formula(
        "softplus_as_relu", "softplus is max(x, 0)", "g",
        [](const GateHead& h, const Contract& c) {
          const Ball x = h.x.value > 0 ? h.x : Ball{};
          return -(exp_of(h.A_log, c) * x);
        },
        rarely_made),
    formula(
        "softplus_as_exp", "softplus is exp(x)", "g",
        [](const GateHead& h, const Contract& c) { return -(exp_of(h.A_log, c) * exp_of(h.x, c)); },
        rarely_made),
    formula("gate_negated", "g has the other sign: the state grows", "g",
            [](const GateHead& h, const Contract& c) { return -gate_of(h, c); }),
    formula("gate_exponentiated", "g is the decay exp(g) itself, not its logarithm", "g",
            [](const GateHead& h, const Contract& c) { return exp_of(gate_of(h, c), c); }),
    formula("gate_in_base_two", "g is a logarithm to base 2", "g",
            [](const GateHead& h, const Contract& c) {
              const double per_nat = 1 / std::log(2.0);
              const Ball constant{per_nat, unit_roundoff * per_nat};
              return gate_of(h, c) * constant;
            })};

}  // namespace
}  // namespace gdn
