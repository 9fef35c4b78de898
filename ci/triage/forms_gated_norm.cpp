// Faults of the gated norm: o / sqrt(mean o^2 + eps) w silu(z), of each v-head.
#include <cmath>

#include "ci/triage/ball.h"
#include "ci/triage/right_of.h"
#include "reference/formats.h"

namespace gdn {
namespace {

FaultForm norm(std::string name, std::string sentence, Alter alter,
               std::vector<std::string> explains = {}) {
  return altered(std::move(name), std::move(sentence), Operator::gated_norm, std::move(alter),
                 std::move(explains));
}

// `heads` heads at a time as one.
bool as_wide(Evidence& at, OperatorRun& run, int64_t heads) {
  std::vector<float> wide;
  const std::vector<float>& w = at.fed["weight"];
  for (int64_t i = 0; i < heads; ++i) wide.insert(wide.end(), w.begin(), w.end());
  at.fed["weight"] = wide;
  run.shape.num_v_heads /= heads;
  run.shape.head_v_dim *= heads;
  return heads > 1;
}

const RegisteredForm norms[] = {
    norm("norm_over_all_heads", "one mean square over all heads divides each",
         [](Evidence& at, OperatorRun& run) { return as_wide(at, run, run.shape.num_v_heads); }),
    norm("norm_over_the_heads_of_a_key", "the v-heads of a k-head share one mean square",
         [](Evidence& at, OperatorRun& run) {
           return as_wide(at, run, run.shape.v_heads_per_k_head());
         }),
    norm("rms_norm_without_eps", "the mean square has no eps",
         [](Evidence&, OperatorRun& run) {
           run.shape.rms_norm_eps = 0;
           return true;
         }),
    norm("rms_norm_with_l2_eps", "the gated norm takes the eps of q and k",
         [](Evidence&, OperatorRun& run) {
           const bool other = run.shape.l2norm_eps != run.shape.rms_norm_eps;
           run.shape.rms_norm_eps = run.shape.l2norm_eps;
           return other;
         }),
    norm("o_and_z_swapped", "o and z change places",
         [](Evidence& at, OperatorRun&) {
           std::swap(at.fed["o"], at.fed["z"]);
           return true;
         }),
    norm("norm_weight_left_out", "the weight of the norm is left out",
         [](Evidence& at, OperatorRun&) {
           for (float& w : at.fed["weight"]) w = 1;
           return true;
         },
         {"missing_norm_weight_taken_as_ones"}),
    norm("gate_negated", "the gate is silu(-z)", [](Evidence& at, OperatorRun&) {
      for (float& z : at.fed["z"]) z = -z;
      return true;
    })};

// A constant of its own, whatever eps was given.
std::vector<RegisteredForm> other_eps() {
  std::vector<RegisteredForm> forms;
  const std::pair<float, const char*> constants[] = {
      {1e-3F, "1e_3"}, {1e-5F, "1e_5"}, {1e-6F, "1e_6"}, {1e-8F, "1e_8"}, {1e-12F, "1e_12"}};
  for (const auto& [eps, name] : constants) {
    forms.emplace_back(altered(
        "eps_of_" + std::string(name), "the mean square has an eps of its own, not that given",
        Operator::gated_norm,
        [eps = eps](Evidence&, OperatorRun& run) {
          const bool is_other = run.shape.rms_norm_eps != eps;
          run.shape.rms_norm_eps = eps;
          return is_other;
        },
        {}, std::size(constants)));
  }
  return forms;
}
const std::vector<RegisteredForm> constants = other_eps();

std::vector<RegisteredForm> rounded_inputs() {
  std::vector<RegisteredForm> forms;
  for (const Format format : {Format::bf16, Format::f16}) {
    const std::string as = format == Format::bf16 ? "bf16" : "f16";
    const std::pair<const char*, const char*> inputs[] = {
        {"z", "output_gate"}, {"o", "norm_input"}, {"weight", "norm_weight"}};
    for (const auto& [array, what] : inputs) {
      forms.emplace_back(norm(what + ("_rounded_to_" + as),
                              std::string(array) + " is rounded to " + as + " when read",
                              [array = array, format](Evidence& at, OperatorRun&) {
                                for (float& x : at.fed[array]) {
                                  x = static_cast<float>(round_to(format, x));
                                }
                                return true;
                              }));
    }
  }
  return forms;
}
const std::vector<RegisteredForm> rounded = rounded_inputs();

// What is read back as o is what came of it.
std::optional<FaultyArrays> in_place(const Evidence& at, const OperatorRun&) {
  return FaultyArrays{{"y", exactly(at.fed.at("o"))}};
}
const RegisteredForm gated_in_place({"output_gated_in_place",
                                     "the result stands in its input o as well",
                                     Operator::gated_norm, in_place});

// A head by the book.
struct NormHead {
  std::vector<Ball> o, z, w;
  const OperatorRun& run;

  Ball root(std::span<const Ball> x, size_t reach) const {
    std::vector<Ball> squares;
    for (size_t i = 0; i < std::min(reach, x.size()); ++i) squares.push_back(x[i] * x[i]);
    const Ball mean = sum_of(squares) / exact_ball(static_cast<double>(x.size()));
    return sqrt_of(mean + exact_ball(run.shape.rms_norm_eps), run.contract);
  }
  // Every element by its own gate.
  std::vector<Ball> out(const Ball& root, const std::function<Ball(const Ball&)>& gate) const {
    std::vector<Ball> y;
    for (size_t j = 0; j < o.size(); ++j) y.push_back(o[j] / root * w[j] * gate(z[j]));
    return y;
  }
  std::vector<Ball> gated(const Ball& root) const {
    return out(root, [this](const Ball& x) { return silu_of(x, run.contract); });
  }
};
using NormRule = std::function<std::vector<Ball>(const NormHead&)>;

FaultForm by_head(std::string name, std::string sentence, NormRule rule, double choices = 1) {
  const auto expect = [rule = std::move(rule)](
                          const Evidence& at,
                          const OperatorRun& run) -> std::optional<FaultyArrays> {
    const auto vd = run.shape.head_v_dim;
    const std::vector<float>& o = at.fed.at("o");
    const std::vector<float>& z = at.fed.at("z");
    std::vector<Ball> y;
    for (int64_t begin = 0; begin < static_cast<int64_t>(o.size()); begin += vd) {
      const auto part = [&](const std::vector<float>& all) {
        return balls_of(std::vector<float>(all.begin() + begin, all.begin() + begin + vd));
      };
      const NormHead head{part(o), part(z), balls_of(at.fed.at("weight")), run};
      const std::vector<Ball> of_head = rule(head);
      y.insert(y.end(), of_head.begin(), of_head.end());
    }
    return FaultyArrays{{"y", bounded_from(y)}};
  };
  return {std::move(name), std::move(sentence), Operator::gated_norm, expect, {}, choices};
}

const RegisteredForm heads[] = {
    by_head("gate_before_norm", "the gate is applied before the norm",
            [](const NormHead& h) {
              NormHead gated = h;
              for (size_t j = 0; j < h.o.size(); ++j) {
                gated.o[j] = h.o[j] * silu_of(h.z[j], h.run.contract);
              }
              return gated.out(h.root(gated.o, h.o.size()),
                               [](const Ball&) { return exact_ball(1); });
            }),
    by_head("rms_eps_outside_root", "eps is added outside the root",
            [](const NormHead& h) {
              const Ball mean = dot_of(h.o, h.o) / exact_ball(static_cast<double>(h.o.size()));
              const Ball root = sqrt_of(mean, h.run.contract);
              return h.gated(root + exact_ball(h.run.shape.rms_norm_eps));
            }),
    by_head("rms_norm_of_the_sum", "the sum of squares stands in place of their mean",
            [](const NormHead& h) {
              const Ball sum = dot_of(h.o, h.o) + exact_ball(h.run.shape.rms_norm_eps);
              return h.gated(sqrt_of(sum, h.run.contract));
            }),
    by_head("mean_subtracted", "the mean of o is subtracted, a layer norm",
            [](const NormHead& h) {
              const Ball mean = sum_of(h.o) / exact_ball(static_cast<double>(h.o.size()));
              NormHead centred = h;
              for (Ball& x : centred.o) x = x - mean;
              return centred.gated(h.root(centred.o, h.o.size()));
            }),
    by_head("output_not_normalised", "o is gated and not normalised",
            [](const NormHead& h) { return h.gated(exact_ball(1)); }),
    by_head("gate_left_out", "z does not gate the output",
            [](const NormHead& h) {
              return h.out(h.root(h.o, h.o.size()), [](const Ball&) { return exact_ball(1); });
            }),
    by_head("gate_without_z", "the gate is sigmoid(z) in place of silu(z)",
            [](const NormHead& h) {
              return h.out(h.root(h.o, h.o.size()),
                           [&](const Ball& z) { return sigmoid_of(z, h.run.contract); });
            }),
    by_head("gate_without_sigmoid", "the gate is z in place of silu(z)",
            [](const NormHead& h) {
              return h.out(h.root(h.o, h.o.size()), [](const Ball& z) { return z; });
            }),
    by_head("norm_weight_plus_one", "the weight of the norm counts as 1 + w",
            [](const NormHead& h) {
              NormHead more = h;
              for (Ball& w : more.w) w = exact_ball(1) + w;
              return more.gated(h.root(h.o, h.o.size()));
            })};

// The normalised output in 16 bits, or its gate, before they are multiplied.
FaultForm narrow(Format format, bool normed) {
  const std::string as = format == Format::bf16 ? "bf16" : "f16";
  const std::string what = normed ? "norm" : "silu";
  const std::string name = what + "_rounded_before_the_weight";
  return by_head(format == Format::bf16 && normed ? name : name + "_to_" + as,
                 (normed ? "o / root" : "silu(z)") + (" is rounded to " + as),
                 [=](const NormHead& h) {
                   const Ball root = h.root(h.o, h.o.size());
                   std::vector<Ball> y;
                   for (size_t j = 0; j < h.o.size(); ++j) {
                     Ball ratio = h.o[j] / root, gate = silu_of(h.z[j], h.run.contract);
                     Ball& held = normed ? ratio : gate;
                     held = rounded_to(format, held);
                     y.push_back(ratio * h.w[j] * gate);
                   }
                   return y;
                 });
}
const RegisteredForm narrow_parts[] = {narrow(Format::bf16, true), narrow(Format::f16, true),
                                       narrow(Format::bf16, false), narrow(Format::f16, false)};

// Threads that square a value each, and nobody beyond.
std::vector<RegisteredForm> short_norms() {
  std::vector<RegisteredForm> forms;
  constexpr size_t reaches[] = {8, 16, 32, 64, 128, 256};
  for (const size_t reach : reaches) {
    forms.emplace_back(by_head(
        "norm_of_the_first_" + std::to_string(reach) + "_values",
        "squares of values beyond " + std::to_string(reach) + " are missing from the mean",
        [reach](const NormHead& h) { return h.gated(h.root(h.o, reach)); }, std::size(reaches)));
  }
  return forms;
}
const std::vector<RegisteredForm> reach = short_norms();

}  // namespace
}  // namespace gdn
