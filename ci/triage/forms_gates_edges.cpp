// Faults of the gates that show in part of their range or of their heads: other edges of softplus,
// small numbers taken as 0, coarse functions, a neighbour's decay.
#include <algorithm>
#include <cmath>

#include "ci/triage/ball.h"
#include "ci/triage/right_of.h"
#include "reference/formats.h"

namespace gdn {
namespace {

using Balls = std::vector<Ball>;

// Another formula for beta or g out of what is right; the other of the two is right.
using Change = std::function<std::optional<Balls>(const Balls& right, const Evidence& at,
                                                  const OperatorRun& run)>;
FaultForm changed(std::string name, std::string sentence, const char* array, Change change,
                  std::vector<std::string> explains = {}, double choices = 1) {
  const auto expect = [array, change = std::move(change)](
                          const Evidence& at,
                          const OperatorRun& run) -> std::optional<FaultyArrays> {
    const std::optional<Balls> other = change(balls_of(at.right.at(array)), at, run);
    if (!other) return std::nullopt;
    return FaultyArrays{{array, bounded_from(*other)}};
  };
  return {std::move(name), std::move(sentence), Operator::gates,
          expect,          std::move(explains), choices};
}

// What softplus is taken of.
float input_of(const Evidence& at, size_t head) {
  return at.fed.at("a")[head] + at.fed.at("dt_bias")[head];
}

// The input nearest to 0, on one side of it, at which g is wrong; there the branch begins.
std::optional<float> edge_of(const OperatorRun& run, bool above) {
  std::optional<float> edge;
  for (const Evidence& at : run.tokens) {
    const Bounded& right = at.right.at("g");
    const auto gave = at.gave.find("g");
    for (size_t i = 0; gave != at.gave.end() && i < right.size(); ++i) {
      const float x = input_of(at, i);
      const bool is_wrong = std::abs(gave->second[i] - right.value[i]) > right.bound_of(i);
      if (!is_wrong || (x > 0) != above) continue;
      if (!edge || std::abs(x) < std::abs(*edge)) edge = x;
    }
  }
  return edge;
}

// From an edge on that the numbers tell, g is something simple.
FaultForm branch(std::string name, std::string sentence, bool above,
                 std::function<Ball(const Ball& A, float x, const Contract&)> simple,
                 std::vector<std::string> explains) {
  return changed(
      std::move(name), std::move(sentence), "g",
      [above, simple = std::move(simple)](const Balls& right, const Evidence& at,
                                          const OperatorRun& run) -> std::optional<Balls> {
        const std::optional<float> edge = edge_of(run, above);
        if (!edge) return std::nullopt;
        Balls g = right;
        for (size_t i = 0; i < g.size(); ++i) {
          const float x = input_of(at, i);
          if (above ? x < *edge : x > *edge) continue;
          g[i] = simple(exp_of(exact_ball(at.fed.at("A_log")[i]), run.contract), x, run.contract);
        }
        return g;
      },
      std::move(explains), fitted_edge);
}

const RegisteredForm branches[] = {
    branch("softplus_linear_too_soon", "softplus is taken as linear from too small an x on", true,
           [](const Ball& A, float x, const Contract&) { return -(A * exact_ball(x)); },
           {"softplus_linear_above_ten"}),
    branch("softplus_zero_too_soon", "softplus is taken as 0 from some x below 0 on", false,
           [](const Ball&, float, const Contract&) { return Ball{}; },
           {"softplus_zero_below_minus_ten"}),
    branch(
        "softplus_exp_too_soon", "softplus is taken as exp(x) from too large an x on", false,
        [](const Ball& A, float x, const Contract& c) { return -(A * exp_of(exact_ball(x), c)); },
        {})};

// A neighbour's: `step` heads on; where there is none its own, or around the end.
std::vector<RegisteredForm> neighbours() {
  std::vector<RegisteredForm> forms;
  for (const std::string array : {"beta", "g"}) {
    const std::string tensor = array == "g" ? "decay" : array;
    for (const bool next : {true, false}) {
      for (const bool around : {true, false}) {
        const std::string which = next ? "next" : "previous";
        forms.emplace_back(changed(
            tensor + "_of_the_" + which + "_head",
            "each head has the " + tensor + " of the " + which + " one",
            array == "g" ? "g" : "beta",
            [next, around](const Balls& right, const Evidence&,
                           const OperatorRun&) -> std::optional<Balls> {
              if (right.size() < 2) return std::nullopt;
              Balls moved = right;
              std::rotate(moved.begin(), next ? moved.begin() + 1 : moved.end() - 1, moved.end());
              if (around) return moved;
              next ? moved.back() = right.back() : moved.front() = right.front();
              return moved;
            }));
      }
    }
    forms.emplace_back(changed(
        tensor + "_made_for_the_first_head_alone", "every head has the " + tensor + " of the first",
        array == "g" ? "g" : "beta", [](const Balls& right, const Evidence&, const OperatorRun&) {
          return Balls(right.size(), right.front());
        }));
  }
  return forms;
}
const std::vector<RegisteredForm> heads = neighbours();

std::vector<RegisteredForm> rounded_inputs() {
  std::vector<RegisteredForm> forms;
  const std::vector<std::vector<const char*>> choices = {
      {"a", "b"}, {"a"}, {"b"}, {"A_log"}, {"dt_bias"}};
  for (const Format format : {Format::bf16, Format::f16}) {
    const std::string as = format == Format::bf16 ? "bf16" : "f16";
    for (const std::vector<const char*>& arrays : choices) {
      const std::string what = arrays.size() > 1 ? "gate_inputs" : arrays[0];
      const std::string inputs = arrays.size() > 1 ? "a and b are" : what + " is";
      forms.emplace_back(altered(what + "_rounded_to_" + as,
                                 inputs + " rounded to " + as + " when read", Operator::gates,
                                 [arrays, format](Evidence& at, OperatorRun&) {
                                   for (const char* array : arrays) {
                                     for (float& x : at.fed[array])
                                       x = static_cast<float>(round_to(format, x));
                                   }
                                   return true;
                                 }));
    }
  }
  return forms;
}
const std::vector<RegisteredForm> rounded = rounded_inputs();

// tanh of float32, half of it and a half: what a fast tanh leaves of beta.
std::vector<RegisteredForm> coarse_functions() {
  std::vector<RegisteredForm> forms;
  constexpr int lengths[] = {8, 10, 11, 12, 16};
  for (const int bits : lengths) {
    const std::string count = std::to_string(bits);
    forms.emplace_back(changed(
        bits == 11 ? "sigmoid_of_a_coarse_tanh" : "sigmoid_of_a_tanh_of_" + count + "_bits",
        "beta comes from a tanh of " + count + " bits", "beta",
        [bits](const Balls&, const Evidence& at, const OperatorRun&) {
          Balls beta;
          for (const float b : at.fed.at("b")) {
            const double value = std::tanh(b / 2.0);
            // No engine's tanh is off by more than a few roundings.
            const Ball coarse = cut_to(bits, Ball{value, 4 * unit_roundoff * std::abs(value)});
            beta.push_back(exact_ball(0.5) + exact_ball(0.5) * coarse);
          }
          return beta;
        },
        {}, std::size(lengths)));
  }
  return forms;
}
const std::vector<RegisteredForm> coarse = coarse_functions();

// -A softplus(x) with A_log as A; by way of its logarithm, so that the error is that of one too.
FaultForm taken_as_A() {
  return {"a_log_exponentiated_already", "A_log is multiplied in as if it were A, without exp",
          Operator::gates,
          [](const Evidence& at, const OperatorRun& run) -> std::optional<FaultyArrays> {
            Evidence other = at;
            for (float& x : other.fed["A_log"]) x = std::log(std::abs(x));
            Balls g = balls_of(right_of(other, run).at("g"));
            for (size_t i = 0; i < g.size(); ++i) {
              const float log = other.fed["A_log"][i];
              const double moved = 4 * unit_roundoff * std::abs(log) * std::abs(g[i].value);
              if (std::isfinite(log)) g[i].bound += moved;
              if (at.fed.at("A_log")[i] < 0) g[i] = -g[i];
            }
            return FaultyArrays{{"g", bounded_from(g)}};
          }};
}
const RegisteredForm as_A(taken_as_A());

}  // namespace
}  // namespace gdn
