// The recurrence on its own does the norm, the scale and the delta rule in one call. Asked again
// without one of them, it tells which is wrong; asked token by token, since when.
#include <fmt/format.h>

#include "ci/triage/localise.h"
#include "reference/operators.h"

namespace gdn {
namespace {

std::vector<float> rounded(const Bounded& numbers) {
  std::vector<float> floats;
  for (const double x : numbers.value) floats.push_back(static_cast<float>(x));
  return floats;
}

// The case with q and k as the reference normalises them, and no norm asked of the engine.
Case normed(const Case& c, const Numbers& numbers, const Contract& contract) {
  Dialect norm = c.dialect;
  norm.scale_on = Dialect::ScaleOn::none;
  std::vector<float> q, k;
  const auto append = [](std::vector<float>& all, const std::vector<float>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  const auto row = [&](const char* name, int64_t t) {
    const std::vector<float>& all = numbers.arrays.at(name);
    return exactly(all.data() + t * c.shape.k_dim(), static_cast<size_t>(c.shape.k_dim()));
  };
  for (int64_t t = 0; t < c.tokens; ++t) {
    const NormedQk both = qk_norm(row("q", t), row("k", t), c.shape, norm, contract);
    append(q, rounded(both.q));
    append(k, rounded(both.k));
  }
  Case plain = c.with_calls({}).with_numbers("q", q).with_numbers("k", k);
  plain.dialect.qk_norm = Dialect::QkNorm::none;
  return plain;
}

// One token of a recurrence without norm and scale, from the state that the engine itself held.
Evidence evidence_of(const Case& plain, const Numbers& numbers, int64_t t,
                     const std::vector<float>& state) {
  Evidence at;
  at.token = t;
  for (const auto& [name, all] : numbers.arrays) {
    if (name == "S" || all.empty()) continue;
    const auto count = std::ssize(all) / plain.tokens;
    at.fed[name].assign(all.begin() + t * count, all.begin() + (t + 1) * count);
  }
  at.fed["S"] = state;
  return at;
}

std::optional<Located> first_wrong_token(const Case& plain, const Lab& lab, bool with_evidence) {
  std::string why;
  std::optional<Numbers> made = materialise(plain, &why);
  if (!made) return std::nullopt;
  const auto numbers = std::make_shared<const Numbers>(*std::move(made));
  std::vector<Call> calls;
  for (int64_t t = 0; t < plain.tokens; ++t) {
    calls.push_back(call_of(CallKind::recurrent, {{Argument::tokens, 1}}));
  }
  const Observation seen = lab.run(plain.with_calls(calls));
  if (!seen.served().holds()) return std::nullopt;
  OperatorRun run;
  run.op = Operator::delta_rule;
  run.shape = plain.shape;
  run.dialect = plain.dialect;
  run.contract = lab.contract();
  std::optional<Located> first;
  std::vector<float> state = numbers->arrays.at("S");
  for (int64_t t = 0; t < plain.tokens; ++t) {
    Evidence at = evidence_of(plain, *numbers, t, state);
    at.gave = seen.calls[static_cast<size_t>(t)].arrays;
    const Expectation& want = lab.expect(case_alone(plain, run, at));
    if (want.calls.empty()) return std::nullopt;
    at.right = want.calls.front().arrays;
    for (const char* array : {"S", "o"}) {
      if (first) break;
      Verdict verdict =
          within(fmt::format("{} of token {}", array, t), at.gave[array], at.right.at(array));
      if (verdict.outcome != Outcome::fails) continue;
      first.emplace();
      first->op = Operator::delta_rule;
      first->tensor = tensor_of(Operator::delta_rule, array);
      first->token = t;
      first->verdict = std::move(verdict);
      first->got = at.gave[array];
      first->want = at.right.at(array);
      first->axes = axes_of(*tensor_named(first->tensor), plain.shape);
    }
    state = at.gave["S"];
    run.tokens.push_back(std::move(at));
  }
  if (first && with_evidence) first->run = std::move(run);
  if (first) first->numbers = numbers;
  return first;
}

// Of all tokens in one call: S and o as the case gives them.
Localised as_a_whole(const Case& c, const Lab& lab) {
  Localised localised;
  const Case own = c.with_calls({});
  const Observation seen = lab.run(own);
  localised.served = seen.served();
  if (!localised.served.holds()) return localised;
  const std::map<std::string, std::vector<float>>& gave = seen.calls.front().arrays;
  for (const char* array : {"o", "S"}) {
    const Bounded& want = lab.expect(own).calls.front().arrays.at(array);
    const auto got = gave.find(array);
    if (want.size() == 0) continue;
    Verdict verdict = within(array, got == gave.end() ? std::vector<float>() : got->second, want);
    if (verdict.outcome != Outcome::fails) continue;
    Located& at = localised.first.emplace();
    at.op = Operator::delta_rule;
    at.tensor = tensor_of(at.op, array);
    at.verdict = std::move(verdict);
    at.got = got == gave.end() ? std::vector<float>() : got->second;
    at.want = want;
    at.axes = axes_of(*tensor_named(at.tensor), c.shape);
    if (array[0] == 'o') at.axes.insert(at.axes.begin(), {"token", c.tokens});
    return localised;
  }
  return localised;
}

OperatorRun run_as_given(const Case& c, const Lab& lab, const Numbers& numbers) {
  OperatorRun run;
  run.op = Operator::delta_rule;
  run.shape = c.shape;
  run.dialect = c.dialect;
  run.contract = lab.contract();
  run.is_recurrent = true;
  const Case own = c.with_calls({});
  Evidence& at = run.tokens.emplace_back();
  at.fed = numbers.arrays;
  std::erase_if(at.fed, [](const auto& array) { return array.second.empty(); });
  at.gave = lab.run(own).calls.front().arrays;
  at.right = lab.expect(own).calls.front().arrays;
  return run;
}

// The first state of the pool alone, as no other layout has it.
Case packed(const Case& c, const Numbers& numbers) {
  Case one = c.with_calls({});
  one.pool = {};
  std::vector<float> state = numbers.arrays.at("S");
  state.resize(static_cast<size_t>(c.shape.state_count()));
  return one.with_numbers("S", state);
}

bool is_right(const Case& c, const Lab& lab) {
  const Localised whole = as_a_whole(c, lab);
  return whole.served.holds() && !whole.first;
}

}  // namespace

Localised localise_recurrent(const Case& c, const Lab& lab, bool with_evidence) {
  Localised localised = as_a_whole(c, lab);
  if (!localised.first || c.tokens == 0) return localised;
  Located& at = *localised.first;
  std::string why;
  const std::optional<Numbers> numbers = materialise(c, &why);
  if (!numbers) return localised;
  const bool is_pooled = c.pool != PoolLayout{};
  const Case one = is_pooled ? packed(c, *numbers) : c;
  at.right_alone = is_pooled && is_right(one, lab);
  if (!at.right_alone && c.dialect.state_layout == Dialect::StateLayout::vk) {
    Case other = one;
    other.dialect.state_layout = Dialect::StateLayout::kv;
    at.right_alone = is_right(other, lab);
  }
  if (at.right_alone) return localised;
  // What follows is about one state, and that of the first slot is as wrong.
  if (c.pool.states > 1) return localise_recurrent(one, lab, with_evidence);
  const Case scaled = normed(c, *numbers, lab.contract());
  Case rule_alone = scaled;
  rule_alone.dialect.scale_on = Dialect::ScaleOn::none;
  rule_alone.dialect.scale.reset();
  if (!is_right(rule_alone, lab)) {
    const bool is_log = c.dialect.gate_input != Dialect::GateInput::linear_alpha;
    std::optional<Located> first =
        is_log ? first_wrong_token(rule_alone, lab, with_evidence) : std::nullopt;
    if (first) at = *std::move(first);
    return localised;
  }
  // The rule is right: what is left is the scale, which is part of this call, and the norm.
  if (is_right(scaled, lab)) at.op = Operator::qk_norm;
  if (with_evidence) at.run = run_as_given(c, lab, *numbers);
  return localised;
}

}  // namespace gdn
