// Every step of one head by the book, and heads put together again.
#include "ci/triage/delta_parts.h"

#include <algorithm>

#include "reference/formats.h"

namespace gdn {
namespace {

std::vector<Ball> part(const Evidence& at, const char* name, int64_t begin, int64_t count) {
  const auto found = at.fed.find(name);
  if (found == at.fed.end()) return {};
  const auto first = found->second.begin() + begin;
  return balls_of(std::vector<float>(first, first + count));
}

std::vector<Ball> decay_of(const Evidence& at, const OperatorRun& run, int64_t head) {
  const FloatModel model(run.contract);
  const int64_t kd = run.shape.head_k_dim;
  const bool linear = run.dialect.gate_input == Dialect::GateInput::linear_alpha;
  std::vector<Ball> decay(static_cast<size_t>(kd), exact_ball(1));
  if (at.fed.contains("g")) {
    const Ball g = part(at, "g", head, 1).front();
    for (Ball& row : decay) row = linear ? g : exp_of(g, model);
  }
  const auto gk = at.fed.find("gk");
  if (gk == at.fed.end()) return decay;
  const bool is_scalar = gk->second.size() == static_cast<size_t>(run.shape.num_v_heads);
  for (int64_t i = 0; i < kd; ++i) {
    const Ball one = part(at, "gk", is_scalar ? head : head * kd + i, 1).front();
    Ball& row = decay[static_cast<size_t>(i)];
    row = row * exp_of(one, model);
  }
  return decay;
}

DeltaHead head_of(const Evidence& at, const OperatorRun& run, int64_t head) {
  const Shape& s = run.shape;
  const int64_t kd = s.head_k_dim, vd = s.head_v_dim;
  const bool grouped = run.dialect.head_map == Dialect::HeadMap::grouped;
  const int64_t k_head = grouped ? head / s.v_heads_per_k_head() : head % s.num_k_heads;
  DeltaHead h;
  h.kd = static_cast<size_t>(kd);
  h.vd = static_cast<size_t>(vd);
  h.head = head;
  h.S = part(at, "S", head * kd * vd, kd * vd);
  h.decay = decay_of(at, run, head);
  h.k = part(at, "k", k_head * kd, kd);
  h.q = part(at, "q", k_head * kd, kd);
  h.v = part(at, "v", head * vd, vd);
  h.beta = part(at, "beta", head, 1).front();
  const std::vector<float>& after = at.gave.at("S");
  const auto first = after.begin() + head * kd * vd;
  h.S_given = balls_of(std::vector<float>(first, first + kd * vd));
  return h;
}

void append(Bounded& all, const std::vector<Ball>& head, const Bounded& right, size_t begin,
            size_t count) {
  const Bounded more = head.empty() ? slice(right, begin, count) : bounded_from(head);
  for (size_t i = 0; i < count; ++i) {
    all.value.push_back(more.value[i]);
    all.bound.push_back(more.bound_of(i));
  }
}

FaultyArrays faulty_heads(const Evidence& at, const OperatorRun& run, const HeadRule& rule) {
  FaultyArrays faulty;
  bool changes_S = false, changes_o = false;
  Bounded S, o;
  const auto& right_S = at.right.at("S");
  const auto& right_o = at.right.at("o");
  for (int64_t head = 0; head < run.shape.num_v_heads; ++head) {
    const DeltaHead in = head_of(at, run, head);
    const FaultyHead out = rule(in, run);
    changes_S = changes_S || !out.S.empty();
    changes_o = changes_o || !out.o.empty();
    append(S, out.S, right_S, S.size(), in.kd * in.vd);
    append(o, out.o, right_o, o.size(), in.vd);
  }
  if (changes_S) faulty["S"] = std::move(S);
  if (changes_o) faulty["o"] = std::move(o);
  return faulty;
}

}  // namespace

std::vector<Ball> DeltaHead::decayed(const std::vector<Ball>& state) const {
  std::vector<Ball> result(state.size());
  for (size_t i = 0; i < state.size(); ++i) result[i] = state[i] * decay[i / vd];
  return result;
}

std::vector<Ball> DeltaHead::read(const std::vector<Ball>& state,
                                  const std::vector<Ball>& key) const {
  std::vector<Ball> result(vd), column(kd);
  for (size_t j = 0; j < vd; ++j) {
    for (size_t i = 0; i < kd; ++i) column[i] = state[i * vd + j];
    result[j] = dot_of(column, key);
  }
  return result;
}

std::vector<Ball> DeltaHead::error(const std::vector<Ball>& u) const {
  std::vector<Ball> d(vd);
  for (size_t j = 0; j < vd; ++j) d[j] = beta * (v[j] - u[j]);
  return d;
}

std::vector<Ball> DeltaHead::written(std::vector<Ball> state, const std::vector<Ball>& key,
                                     const std::vector<Ball>& d) const {
  for (size_t i = 0; i < state.size(); ++i) state[i] = state[i] + key[i / vd] * d[i % vd];
  return state;
}

std::vector<Ball> DeltaHead::state_after() const {
  const std::vector<Ball> t = decayed(S);
  return written(t, k, error(read(t, k)));
}

FaultForm by_head(std::string name, std::string sentence, HeadRule rule,
                  std::vector<std::string> explains, double choices) {
  const auto expect = [rule = std::move(rule)](const Evidence& at, const OperatorRun& run)
      -> std::optional<FaultyArrays> {
    const bool is_whole = at.gave.contains("S") && at.gave.contains("o") &&
                          at.right.contains("S") && at.right.contains("o");
    if (run.is_recurrent || !is_whole) return std::nullopt;
    return faulty_heads(at, run, rule);
  };
  return {std::move(name), std::move(sentence), Operator::delta_rule, expect, std::move(explains),
          choices};
}

}  // namespace gdn
