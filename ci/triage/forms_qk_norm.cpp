// Faults of qk_norm: k / sqrt(sum k^2 + eps) of each k-head, q the same and times its scale.
#include <cmath>

#include "ci/triage/ball.h"
#include "ci/triage/right_of.h"

namespace gdn {
namespace {

FaultForm norm(std::string name, std::string sentence, Alter alter,
               std::vector<std::string> explains = {}) {
  return altered(std::move(name), std::move(sentence), Operator::qk_norm, std::move(alter),
                 std::move(explains));
}

// q or k alone follows what `alter` makes of both.
FaultForm one_of(const char* array, std::string name, std::string sentence, Alter alter,
                 std::vector<std::string> explains = {}) {
  const auto expect = [array, alter = std::move(alter)](
                          const Evidence& at,
                          const OperatorRun& run) -> std::optional<FaultyArrays> {
    Evidence other = at;
    OperatorRun changed = without_tokens(run);
    if (!alter(other, changed)) return std::nullopt;
    return FaultyArrays{{array, right_of(other, changed).at(array)}};
  };
  return {std::move(name), std::move(sentence), Operator::qk_norm, expect, std::move(explains)};
}

bool no_norm(Evidence&, OperatorRun& run) {
  run.dialect.qk_norm = Dialect::QkNorm::none;
  return true;
}

bool one_head(Evidence&, OperatorRun& run) {
  // The scale stays that of a head.
  run.dialect.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(run.shape.head_k_dim)));
  run.shape.head_k_dim *= run.shape.num_k_heads;
  run.shape.num_k_heads = 1;
  return true;
}

const RegisteredForm norms[] = {
    norm("l2_norm_without_eps", "the norm of q and k has no eps",
         [](Evidence&, OperatorRun& run) {
           run.shape.l2norm_eps = 0;
           return true;
         }),
    norm("l2_norm_with_rms_eps", "the norm of q and k takes the eps of the gated norm",
         [](Evidence&, OperatorRun& run) {
           const bool other = run.shape.l2norm_eps != run.shape.rms_norm_eps;
           run.shape.l2norm_eps = run.shape.rms_norm_eps;
           return other;
         }),
    norm("l2_norm_of_all_heads", "one norm over all k-heads divides each", one_head),
    one_of("k", "keys_not_normalised", "keys are not normalised", no_norm),
    one_of("q", "query_not_normalised", "queries are scaled and not normalised", no_norm),
    one_of("q", "query_as_it_came", "queries are neither normalised nor scaled",
           [](Evidence&, OperatorRun& run) {
             run.dialect.qk_norm = Dialect::QkNorm::none;
             run.dialect.scale_on = Dialect::ScaleOn::none;
             return true;
           }),
    norm("query_and_keys_swapped", "q and k change places before they are normalised",
         [](Evidence& at, OperatorRun&) {
           std::swap(at.fed["q"], at.fed["k"]);
           return true;
         }),
    norm("q_from_k", "q is computed from k",
         [](Evidence& at, OperatorRun&) {
           at.fed["q"] = at.fed["k"];
           return true;
         }),
    norm("k_from_q", "k is computed from q", [](Evidence& at, OperatorRun&) {
      at.fed["k"] = at.fed["q"];
      return true;
    })};

// A head by the book.
using HeadRule = std::function<std::vector<Ball>(const std::vector<Ball>& x, const OperatorRun&)>;

std::vector<Ball> scaled(std::vector<Ball> x, const OperatorRun& run, int times) {
  const Ball scale = scale_of_q(run.dialect, run.shape);
  for (Ball& element : x) {
    for (int i = 0; i < times; ++i) element = element * scale;
  }
  return x;
}

// Of q and k; q with its scale where the dialect has it there, `q_times` times.
FaultForm by_head(std::string name, std::string sentence, HeadRule rule,
                  std::vector<std::string> arrays = {"q", "k"}, int q_times = 1) {
  const auto expect = [rule = std::move(rule), arrays, q_times](
                          const Evidence& at,
                          const OperatorRun& run) -> std::optional<FaultyArrays> {
    FaultyArrays faulty;
    const auto kd = run.shape.head_k_dim;
    for (const std::string& array : arrays) {
      const std::vector<float>& all = at.fed.at(array);
      std::vector<Ball> result;
      for (auto head = all.begin(); head != all.end(); head += kd) {
        std::vector<Ball> x = rule(balls_of(std::vector<float>(head, head + kd)), run);
        const bool scales = array == "q" && run.dialect.scale_on == Dialect::ScaleOn::q;
        if (scales) x = scaled(std::move(x), run, q_times);
        result.insert(result.end(), x.begin(), x.end());
      }
      faulty[array] = bounded_from(result);
    }
    return faulty;
  };
  return {std::move(name), std::move(sentence), Operator::qk_norm, expect};
}

// Divided by sqrt(the sum of the first `reach` squares + eps).
std::vector<Ball> normed(const std::vector<Ball>& x, const OperatorRun& run, size_t reach) {
  std::vector<Ball> squares;
  for (size_t i = 0; i < std::min(reach, x.size()); ++i) squares.push_back(x[i] * x[i]);
  squares.push_back(exact_ball(run.shape.l2norm_eps));
  const Ball root = sqrt_of(sum_of(squares), run.contract);
  std::vector<Ball> result;
  for (const Ball& element : x) result.push_back(element / root);
  return result;
}

std::vector<Ball> divided(const std::vector<Ball>& x, const Ball& by) {
  std::vector<Ball> result;
  for (const Ball& element : x) result.push_back(element / by);
  return result;
}

Ball squares_of(const std::vector<Ball>& x) { return dot_of(x, x); }

// 1 / root as an instruction of so many bits gives it, without the step that refines it.
std::vector<RegisteredForm> coarse_roots() {
  std::vector<RegisteredForm> forms;
  constexpr int lengths[] = {8, 10, 11, 12, 16};
  for (const int bits : lengths) {
    const std::string count = std::to_string(bits);
    FaultForm form =
        by_head(bits == 11 ? "norm_by_a_coarse_root" : "norm_by_a_root_of_" + count + "_bits",
                "the norm of q and k comes from a 1 / sqrt of " + count + " bits",
                [bits](const std::vector<Ball>& x, const OperatorRun& run) {
                  const double eps = run.shape.l2norm_eps;
                  const bool of_mean = run.dialect.qk_norm == Dialect::QkNorm::mean_eps;
                  const double added = of_mean ? eps * static_cast<double>(x.size()) : eps;
                  const Ball root = sqrt_of(dot_of(x, x) + exact_ball(added), run.contract);
                  const Ball coarse = cut_to(bits, exact_ball(1) / root);
                  std::vector<Ball> result;
                  for (const Ball& element : x) result.push_back(element * coarse);
                  return result;
                });
    form.choices = std::size(lengths);
    forms.emplace_back(std::move(form));
  }
  return forms;
}
const std::vector<RegisteredForm> coarse = coarse_roots();

const RegisteredForm heads[] = {
    by_head(
        "q_scale_twice", "the scale of q is applied twice",
        [](const auto& x, const OperatorRun& run) { return normed(x, run, x.size()); }, {"q"}, 2),
    by_head(
        "q_scale_before_the_norm", "q is scaled before its norm, which takes the scale out",
        [](const auto& x, const OperatorRun& run) {
          return normed(scaled(x, run, 1), run, x.size());
        },
        {"q"}, 0),
    by_head("keys_scaled_as_well", "k is scaled as q is",
            [](const auto& x, const OperatorRun& run) {
              return scaled(normed(x, run, x.size()), run, 1);
            },
            {"k"}),
    by_head("l2_eps_outside_root", "eps is added to the norm of q and k, not under its root",
            [](const auto& x, const OperatorRun& run) {
              const Ball root = sqrt_of(squares_of(x), run.contract);
              return divided(x, root + exact_ball(run.shape.l2norm_eps));
            }),
    by_head("l2_norm_without_root", "q and k are divided by their squared norm",
            [](const auto& x, const OperatorRun& run) {
              return divided(x, squares_of(x) + exact_ball(run.shape.l2norm_eps));
            }),
    by_head("l2_norm_of_the_mean", "q and k are divided by the root of their mean square",
            [](const auto& x, const OperatorRun& run) {
              const Ball mean = squares_of(x) / exact_ball(static_cast<double>(x.size()));
              return divided(x, sqrt_of(mean + exact_ball(run.shape.l2norm_eps), run.contract));
            }),
    by_head("l1_norm", "q and k are divided by the sum of their magnitudes",
            [](const auto& x, const OperatorRun& run) {
              std::vector<Ball> sizes = x;
              for (Ball& size : sizes) size.value = std::abs(size.value);
              return divided(x, sum_of(sizes) + exact_ball(run.shape.l2norm_eps));
            })};

// Threads that square a channel each, and nobody beyond.
std::vector<RegisteredForm> short_norms() {
  std::vector<RegisteredForm> forms;
  constexpr size_t reaches[] = {8, 16, 32, 64, 128, 256};
  for (const size_t reach : reaches) {
    for (const std::string array : {"k", "q", "both"}) {
      const bool both = array == "both";
      const std::string what = both ? "channels" : array == "k" ? "keys" : "queries";
      FaultForm form = by_head(
          "norm_of_the_first_" + std::to_string(reach) + "_" + what,
          "squares of " + what + " beyond " + std::to_string(reach) + " are missing from the norm",
          [reach](const auto& x, const OperatorRun& run) { return normed(x, run, reach); },
          both ? std::vector<std::string>{"q", "k"} : std::vector<std::string>{array});
      form.choices = std::size(reaches);
      forms.emplace_back(std::move(form));
    }
  }
  return forms;
}
const std::vector<RegisteredForm> reach = short_norms();

}  // namespace
}  // namespace gdn
