// Faults that any operator can have in what it gives: rounding through a narrower format, numbers
// that are flushed, left out, another token's, or off by one constant.
#include <algorithm>
#include <cmath>

#include "ci/triage/ball.h"
#include "ci/triage/right_of.h"
#include "reference/formats.h"

namespace gdn {
namespace {

// An array that an operator gives, and the tensor that it is in a layer.
struct Given {
  Operator op;
  const char* array;
  const char* tensor;
  const char* mutants;      // how those that round it begin
  const char* matrix = "";  // of in_proj
};
constexpr const char* sums = "sums_of_products";
constexpr Given all_given[] = {{Operator::in_proj, "y", "qkv", sums, "qkv"},
                               {Operator::in_proj, "y", "z", sums, "z"},
                               {Operator::in_proj, "y", "b", sums, "b"},
                               {Operator::in_proj, "y", "a", sums, "a"},
                               {Operator::gates, "beta", "beta", "beta"},
                               {Operator::gates, "g", "g", "log_decay"},
                               {Operator::conv, "y", "conv", "conv_output"},
                               {Operator::conv, "hist", "history", "conv_history"},
                               {Operator::conv, "v", "v", "values"},
                               {Operator::qk_norm, "q", "q", "query"},
                               {Operator::qk_norm, "k", "k", "keys"},
                               {Operator::delta_rule, "o", "o", "recurrence_output"},
                               {Operator::gated_norm, "y", "onorm", "normed_output"},
                               {Operator::out_proj, "y", "out", sums},
                               {Operator::dequant, "out", "weights", "decoded_weights"}};

using Change = std::function<std::optional<Bounded>(const Bounded& right, const Evidence& at,
                                                    const OperatorRun& run, const char* array)>;

void add(std::vector<RegisteredForm>& forms, const Given& given, const std::string& name,
         const std::string& sentence, const Change& change, double choices = 1,
         std::vector<std::string> explains = {}) {
  const auto expect = [given, change](const Evidence& at,
                                      const OperatorRun& run) -> std::optional<FaultyArrays> {
    const bool other_matrix = given.op == Operator::in_proj && run.matrix != given.matrix;
    const auto right = at.right.find(given.array);
    if (other_matrix || right == at.right.end()) return std::nullopt;
    std::optional<Bounded> result = change(right->second, at, run, given.array);
    if (!result) return std::nullopt;
    return FaultyArrays{{given.array, *std::move(result)}};
  };
  forms.emplace_back(FaultForm{name, sentence, given.op, expect, std::move(explains), choices});
}

Change each_ball(std::function<Ball(const Ball&)> change) {
  return [change = std::move(change)](const Bounded& right, const Evidence&, const OperatorRun&,
                                      const char*) -> std::optional<Bounded> {
    std::vector<Ball> balls = balls_of(right);
    for (Ball& ball : balls) ball = change(ball);
    return bounded_from(balls);
  };
}

std::optional<Bounded> stored(Format format, const Bounded& right) {
  if (right.stored != Format::f32) return std::nullopt;
  Bounded narrow = right;
  narrow.stored = format;
  return narrow;
}

// Numbers below the smallest normal one become zero; those at its edge may.
Ball flushed(const Ball& x) {
  const double size = std::abs(x.value);
  if (!std::isfinite(size) || size - x.bound >= flush_unit) return x;
  return size + x.bound < flush_unit ? Ball{} : Ball{x.value, x.bound + size};
}

// One constant that is added to each number of every token: the middle of those that all allow.
std::optional<Bounded> with_constant(const Bounded& right, const OperatorRun& run,
                                     const char* array) {
  double low = -infinity, high = infinity;
  for (const Evidence& at : run.tokens) {
    const auto want = at.right.find(array);
    const auto gave = at.gave.find(array);
    if (want == at.right.end() || gave == at.gave.end()) continue;
    const std::vector<Ball> balls = balls_of(want->second);
    for (size_t i = 0; i < balls.size(); ++i) {
      const double got = gave->second[i];
      if (!std::isfinite(got) || !std::isfinite(balls[i].value)) continue;
      const double reach = balls[i].bound + unit_roundoff * std::abs(got);
      low = std::max(low, got - balls[i].value - reach);
      high = std::min(high, got - balls[i].value + reach);
    }
  }
  if (!(low <= high) || std::isinf(low)) return std::nullopt;
  std::vector<Ball> balls = balls_of(right);
  for (Ball& ball : balls) ball = ball + exact_ball(low / 2 + high / 2);
  return bounded_from(balls);
}

// Zero up to the largest number that is 0 and should not be; what is smaller is 0 as well.
std::optional<Bounded> small_as_zero(const Bounded& right, const OperatorRun& run,
                                     const char* array) {
  double edge = 0;
  for (const Evidence& at : run.tokens) {
    const auto want = at.right.find(array);
    const auto gave = at.gave.find(array);
    if (want == at.right.end() || gave == at.gave.end()) continue;
    for (size_t i = 0; i < gave->second.size(); ++i) {
      const double size = std::abs(want->second.value[i]);
      if (gave->second[i] == 0 && size > want->second.bound_of(i)) edge = std::max(edge, size);
    }
  }
  if (edge == 0) return std::nullopt;
  // Where nothing is left it is an output that is zero as well, which is the likelier.
  std::vector<Ball> balls = balls_of(right);
  for (Ball& ball : balls) {
    if (std::abs(ball.value) <= edge) ball = Ball{};
  }
  return bounded_from(balls);
}

std::optional<Bounded> of_token_before(const Evidence& at, const OperatorRun& run,
                                       const char* array) {
  const Evidence* const before = token_before(at, run);
  if (before == nullptr || !before->gave.contains(array)) return std::nullopt;
  return exactly(before->gave.at(array));
}

void add_all(std::vector<RegisteredForm>& forms, const Given& given) {
  const std::string tensor = given.tensor;
  for (const Format format : {Format::bf16, Format::f16}) {
    const std::string as = format == Format::bf16 ? "bf16" : "f16";
    add(forms, given, tensor + "_rounded_to_" + as, tensor + " is rounded to " + as,
        [format](const Bounded& right, const Evidence&, const OperatorRun&, const char*) {
          return stored(format, right);
        },
        1, {std::string(given.mutants) + "_rounded_to_" + as});
  }
  add(forms, given, tensor + "_subnormals_flushed",
      "subnormal numbers of " + tensor + " are flushed to 0", each_ball(flushed), 1,
      {"subnormal_outputs_flushed"});
  add(forms, given, tensor + "_negated", tensor + " has the other sign",
      each_ball([](const Ball& x) { return -x; }));
  add(forms, given, tensor + "_zero", tensor + " is zero",
      each_ball([](const Ball&) { return Ball{}; }), rarely_made);
  add(
      forms, given, tensor + "_small_taken_as_zero",
      "numbers of " + tensor + " below an edge are taken as 0",
      [](const Bounded& right, const Evidence&, const OperatorRun& run, const char* array) {
        return small_as_zero(right, run, array);
      },
      fitted_edge,
      given.op != Operator::gates ? std::vector<std::string>{}
      : tensor == "g"             ? std::vector<std::string>{"slow_decay_taken_as_none"}
                                  : std::vector<std::string>{"small_beta_taken_as_zero"});
  add(forms, given, tensor + "_of_the_token_before", tensor + " is that of the token before",
      [](const Bounded&, const Evidence& at, const OperatorRun& run, const char* array) {
        return of_token_before(at, run, array);
      });
  add(
      forms, given, tensor + "_with_a_constant_added",
      "one constant is added to each number of " + tensor,
      [](const Bounded& right, const Evidence&, const OperatorRun& run, const char* array) {
        return with_constant(right, run, array);
      },
      fitted_number,
      given.op == Operator::delta_rule ? std::vector<std::string>{"output_offset_added"}
      : given.op == Operator::in_proj || given.op == Operator::out_proj
          ? std::vector<std::string>{"bias_in_the_projection"}
          : std::vector<std::string>{});
}

// What lies beyond a grid or a block of threads is never written.
void add_beyond(std::vector<RegisteredForm>& forms, const Given& given) {
  constexpr size_t reaches[] = {1, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
  for (const size_t reach : reaches) {
    add(
        forms, given, std::string(given.tensor) + "_zero_beyond_" + std::to_string(reach),
        std::string(given.tensor) + " is zero beyond its first " + std::to_string(reach) +
            " numbers",
        [reach](const Bounded& right, const Evidence&, const OperatorRun&,
                const char*) -> std::optional<Bounded> {
          if (right.size() <= reach) return std::nullopt;
          std::vector<Ball> balls = balls_of(right);
          std::fill(balls.begin() + static_cast<int64_t>(reach), balls.end(), Ball{});
          return bounded_from(balls);
        },
        std::size(reaches));
  }
}

std::vector<RegisteredForm> all_forms() {
  std::vector<RegisteredForm> forms;
  for (const Given& given : all_given) {
    add_all(forms, given);
    add_beyond(forms, given);
  }
  return forms;
}
const std::vector<RegisteredForm> self = all_forms();

}  // namespace
}  // namespace gdn
