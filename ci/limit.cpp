// Trials: an element, a direction, and the smallest step that way which a rule refuses.
#include "ci/limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "invariants/harness/verdict.h"
#include "reference/rng.h"

namespace gdn {
namespace {

constexpr int64_t horizons[] = {1, 100, 10'000};

// The log of beta over 1 - beta at which a state of kd rows is overwritten in about `horizon`
// tokens: a token writes along one of kd directions.
int64_t beta_logit_of(int64_t horizon, int64_t kd) {
  const double slower = static_cast<double>(horizon) / static_cast<double>(kd);
  return slower > 1 ? -static_cast<int64_t>(std::lround(std::log(slower))) : 0;
}

int64_t row_length(Tensor tensor, const Shape& shape) {
  switch (tensor) {
    case Tensor::Q:
    case Tensor::K:
      return shape.head_k_dim;
    case Tensor::Z:
    case Tensor::V:
    case Tensor::O:
    case Tensor::ONORM:
    case Tensor::S:
      return shape.head_v_dim;
    case Tensor::HIST:
    case Tensor::CONV:
    case Tensor::QKV:
      return shape.conv_dim();
    case Tensor::OUT:
      return shape.hidden_size;
    case Tensor::A:
    case Tensor::B:
    case Tensor::BETA:
    case Tensor::G:
      return shape.num_v_heads;
  }
  return 1;
}

double norm_of_row(const Bounded& want, size_t index, int64_t length) {
  const auto size = static_cast<size_t>(length);
  double squares = 0;
  for (size_t i = index / size * size; i < (index / size + 1) * size; ++i) {
    squares += want.value[i] * want.value[i];
  }
  return std::sqrt(squares);
}

double ulp_of(float number) {
  const double size = std::max(std::abs(double{number}), double{std::numeric_limits<float>::min()});
  return std::ldexp(1.0, std::ilogb(size) - 23);
}

// What is let through is an interval around the exact value, and so is what rounds to float32 into
// it: from a number inside it, whatever is larger than the first step out is out as well. So the
// first one is found by doubling and halving, to the ulp below 2^10 and to 1 in 2^10 above.
template <class Refuses>
double first_refused(float got, double sign, const Refuses& is_refused) {
  const double ulp = ulp_of(got);
  const auto at = [&](double steps) { return static_cast<float>(got + sign * steps * ulp); };
  if (is_refused(got)) return 0;
  double passes = 0, refused = 1;
  while (!is_refused(at(refused))) {
    passes = refused;
    refused *= 2;
  }
  while (refused - passes > std::max(1.0, refused * 0x1p-10)) {
    const double middle = std::floor((passes + refused) / 2);
    (is_refused(at(middle)) ? refused : passes) = middle;
  }
  return refused;
}

struct Seen {
  TokenTensors got;
  TokenExpectation want;
};

Seen local_check(const Case& c, const Observation& run, const Lab& lab) {
  const size_t last = run.calls.size() - 1;
  const std::vector<TokenTensors> seen = {run.calls[last - 1].reads, run.calls[last].reads};
  // The first of the two is there for the state before the second.
  auto want = lab.expect_local(c, 0, {c.tokens - 2, c.tokens - 1}, seen);
  return {seen.back(), std::move(want.back())};
}

Seen global_check(const Case& c, const Observation& run, const Lab& lab) {
  return {run.calls.back().reads, lab.expect(c).calls.back().reads};
}

// NMSE takes what an operator gives in one: output and state of the delta rule.
std::map<Operator, Pooled> pools_of_operators(const Seen& seen) {
  std::map<Operator, Pooled> pools;
  for (const auto& [tensor, want] : seen.want) {
    const bool in_one = operator_of(tensor) == Operator::delta_rule;
    if (in_one) pools[Operator::delta_rule].add(seen.got.at(tensor), want);
  }
  return pools;
}

TensorTrials trials_of_tensor(const LimitPlace& place, Tensor tensor, const Seen& seen, Rng rng,
                              int64_t trials) {
  const std::vector<float>& got = seen.got.at(tensor);
  const Bounded& want = seen.want.at(tensor);
  Pooled alone;
  alone.add(got, want);
  const std::map<Operator, Pooled> of_operators = pools_of_operators(seen);
  const auto shared = of_operators.find(operator_of(tensor));
  const size_t rules = place.is_global ? 1 : limit_rule_count;
  TensorTrials result{tensor, std::vector<std::vector<SmallestSeen>>(rules)};
  for (int64_t trial = 0; trial < trials; ++trial) {
    const auto index = static_cast<size_t>(rng.range(0, static_cast<int64_t>(got.size()) - 1));
    const double sign = rng.range(0, 1) == 0 ? -1 : 1;
    const double norm = norm_of_row(want, index, row_length(tensor, place.shape));
    for (size_t r = 0; r < rules; ++r) {
      const bool in_one = pools_tensors(r) && shared != of_operators.end();
      const Pooled& pool = in_one ? shared->second : alone;
      const double ulps = first_refused(got[index], sign, [&](float moved) {
        return refuses(r, pool, got[index], moved, want, index);
      });
      result.rules[r].push_back({ulps, ulps * ulp_of(got[index]) / norm});
    }
  }
  return result;
}

}  // namespace

std::vector<LimitPlace> limit_places(bool quick) {
  const Shape small{128, 2, 32, 4, 32, 4};
  const Shape heads{256, 1, 128, 3, 128, 4};
  const Shape tiny{32, 1, 8, 2, 8, 4};
  const Shape whole{5120, 16, 128, 48, 128, 4};
  std::vector<LimitPlace> places;
  for (const int64_t horizon : horizons) {
    if (quick && horizon > 100) break;
    places.push_back({"small", small, horizon, false, 10});
    if (!quick) places.push_back({"heads of 27B", heads, horizon, false, 4});
    places.push_back({"tiny", tiny, horizon, true, quick ? 2 : 10});
  }
  if (!quick) places.push_back({"27B", whole, 1, false, 2});
  return places;
}

Case limit_case(const LimitPlace& place, uint64_t seed, int64_t index) {
  Case c;
  const std::string name = fmt::format("{} {} {} {}", place.name, place.horizon,
                                       place.is_global ? "global" : "local", index);
  c.seed = Rng(seed).stream(name).next();
  c.shape = place.shape;
  c.recipe.horizon_tokens = place.horizon;
  c.recipe.beta_logit = beta_logit_of(place.horizon, place.shape.head_k_dim);
  const int64_t before = std::max<int64_t>(3 * place.horizon, place.shape.conv_kernel);
  c.tokens = before + 2;
  std::vector<Call> calls = setup_calls(c);
  calls.push_back(call_of(CallKind::run, {{Argument::tokens, before}}));
  for (int token = 0; token < 2; ++token) {
    Call step = call_of(CallKind::step);
    step.reads = every_tensor();
    calls.push_back(std::move(step));
  }
  return c.with_calls(std::move(calls));
}

std::vector<TensorTrials> trials_of(const LimitPlace& place, const Case& c, const Lab& lab,
                                    int64_t trials, Verdict* why) {
  const Observation run = lab.run(c);
  *why = run.served();
  if (!why->holds()) return {};
  const Seen seen = place.is_global ? global_check(c, run, lab) : local_check(c, run, lab);
  std::vector<TensorTrials> all;
  for (const auto& [tensor, want] : seen.want) {
    *why = within(name_of(tensor), seen.got.at(tensor), want);
    if (!why->holds()) return {};
    all.push_back(
        trials_of_tensor(place, tensor, seen, Rng(c.seed).stream(name_of(tensor)), trials));
  }
  return all;
}

LimitRow row_of(const LimitPlace& place, const std::vector<const TensorTrials*>& trials) {
  LimitRow row{place.name, place.horizon, place.is_global, trials.front()->tensor, 0, {}};
  for (size_t r = 0; r < trials.front()->rules.size(); ++r) {
    std::vector<double> ulps, of_row;
    for (const TensorTrials* one : trials) {
      for (const SmallestSeen& seen : one->rules[r]) {
        ulps.push_back(seen.ulps);
        of_row.push_back(seen.of_row);
      }
    }
    std::sort(ulps.begin(), ulps.end());
    std::sort(of_row.begin(), of_row.end());
    const size_t middle = ulps.size() / 2;
    row.trials = ulps.size();
    row.rules.push_back({{ulps[middle], of_row[middle]}, {ulps.back(), of_row.back()}});
  }
  return row;
}

}  // namespace gdn
