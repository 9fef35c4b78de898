// The reference, asked about one operator by the names of its arrays.
#include "ci/triage/right_of.h"

#include <algorithm>

#include "reference/operators.h"
#include "reference/recurrence.h"

namespace gdn {
namespace {

const std::vector<float>& array(const Evidence& at, const char* name) {
  static const std::vector<float> none;
  const auto found = at.fed.find(name);
  return found == at.fed.end() ? none : found->second;
}

std::vector<float> part(const std::vector<float>& all, int64_t index, int64_t parts) {
  const auto count = static_cast<int64_t>(all.size()) / parts;
  return {all.begin() + index * count, all.begin() + (index + 1) * count};
}

TokenInputs inputs_of(const Evidence& at, int64_t index, int64_t tokens) {
  const auto of = [&](const char* name) {
    const std::vector<float>& all = array(at, name);
    return tokens == 1 ? exactly(all) : exactly(part(all, index, tokens));
  };
  return {of("q"), of("k"), of("v"), of("g"), of("gk"), of("beta")};
}

void append(Bounded& all, const Bounded& more) {
  for (const Tolerated& t : more.tolerated) {
    all.tolerated.push_back({t.index + all.size(), t.result, t.why});
  }
  all.stored = more.stored;
  for (size_t i = 0; i < more.size(); ++i) all.bound.push_back(more.bound_of(i));
  all.value.insert(all.value.end(), more.value.begin(), more.value.end());
}

FaultyArrays right_recurrence(const Evidence& at, const OperatorRun& run) {
  RunningRecurrence running(run.shape, run.dialect, run.contract, array(at, "S"));
  const int64_t count = tokens_of(at, run);
  std::vector<TokenInputs> tokens;
  for (int64_t t = 0; t < count; ++t) {
    TokenInputs in = inputs_of(at, t, count);
    NormedQk normed = qk_norm(in.q, in.k, run.shape, run.dialect, run.contract);
    in.q = carried(std::move(normed.q));
    in.k = carried(std::move(normed.k));
    tokens.push_back(std::move(in));
  }
  FaultyArrays right;
  for (const Bounded& o : running.call(tokens)) append(right["o"], o);
  right["S"] = running.state();
  return right;
}

FaultyArrays right_delta_rule(const Evidence& at, const OperatorRun& run) {
  if (run.is_recurrent) return right_recurrence(at, run);
  const TokenInputs in = inputs_of(at, 0, 1);
  FaultyArrays right;
  right["S"] = delta_rule_state(array(at, "S"), in, run.shape, run.dialect, run.contract);
  const auto after = at.gave.find("S");
  if (after != at.gave.end()) {
    right["o"] = delta_rule_output(after->second, in.q, run.shape, run.dialect, run.contract);
  }
  return right;
}

FaultyArrays right_conv(const Evidence& at, const OperatorRun& run) {
  std::vector<float> window = array(at, "hist");
  const std::vector<float>& x = array(at, "x");
  window.insert(window.end(), x.begin(), x.end());
  const auto channels = static_cast<int64_t>(x.size());
  FaultyArrays right;
  if (window.size() > x.size()) {
    right["hist"] = exactly(std::vector<float>(window.begin() + channels, window.end()));
  }
  right["y"] = conv(exactly(window), array(at, "weight"), channels, run.contract);
  // A layer's V is what its own CONV holds.
  const auto y = at.gave.find("y");
  const auto count = static_cast<size_t>(run.shape.v_dim());
  if (at.gave.contains("v") && y != at.gave.end() && y->second.size() >= count) {
    right["v"] = slice(exactly(y->second), y->second.size() - count, count);
  }
  return right;
}

}  // namespace

int64_t tokens_of(const Evidence& at, const OperatorRun& run) {
  if (!run.is_recurrent) return 1;
  return static_cast<int64_t>(array(at, "beta").size()) / run.shape.num_v_heads;
}

FaultyArrays right_of(const Evidence& at, const OperatorRun& run) {
  const auto of = [&](const char* name) { return exactly(array(at, name)); };
  switch (run.op) {
    case Operator::in_proj:
      return {{"y", project(run.weights, of("x"), run.dialect.activation, run.contract.in_proj,
                            run.contract)}};
    case Operator::out_proj:
      return {{"y", project(run.weights, of("x"), run.dialect.activation, run.contract.out_proj,
                            run.contract)}};
    case Operator::gates: {
      Gates both = gates(of("a"), of("b"), array(at, "A_log"), array(at, "dt_bias"), run.dialect,
                         run.contract);
      return {{"beta", std::move(both.beta)}, {"g", std::move(both.g)}};
    }
    case Operator::conv:
      return right_conv(at, run);
    case Operator::qk_norm: {
      NormedQk both = qk_norm(of("q"), of("k"), run.shape, run.dialect, run.contract);
      return {{"q", std::move(both.q)}, {"k", std::move(both.k)}};
    }
    case Operator::delta_rule:
      return right_delta_rule(at, run);
    case Operator::gated_norm:
      return {{"y", gated_norm(of("o"), of("z"), array(at, "weight"), run.shape, run.contract)}};
    case Operator::dequant:
      return {{"out", dequant(run.weights.tiles, run.weights.rows, run.weights.cols)}};
  }
  return {};
}

OperatorRun without_tokens(const OperatorRun& run) {
  OperatorRun other;
  other.op = run.op;
  other.matrix = run.matrix;
  other.weights = run.weights;
  other.shape = run.shape;
  other.dialect = run.dialect;
  other.contract = run.contract;
  other.is_recurrent = run.is_recurrent;
  return other;
}

FaultForm altered(std::string name, std::string sentence, Operator op, Alter alter,
                  std::vector<std::string> explains, double choices) {
  return {std::move(name),
          std::move(sentence),
          op,
          [alter = std::move(alter)](const Evidence& at,
                                     const OperatorRun& run) -> std::optional<FaultyArrays> {
            Evidence other = at;
            OperatorRun changed = without_tokens(run);
            if (!alter(other, changed)) return std::nullopt;
            return right_of(other, changed);
          },
          std::move(explains),
          choices};
}

const Evidence* token_before(const Evidence& at, const OperatorRun& run) {
  const Evidence* before = nullptr;
  for (const Evidence& other : run.tokens) {
    if (other.token == at.token - 1) before = &other;
  }
  return before;
}

}  // namespace gdn
