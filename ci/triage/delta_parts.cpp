// Every step of one head by the book, and heads put together again.
#include "ci/triage/delta_parts.h"

#include <algorithm>

namespace gdn {
namespace {

// The arrays of one token, q and k as the recurrence uses them.
struct TokenBalls {
  std::vector<Ball> q, k, v, g, gk, beta;
};

std::vector<Ball> of_token(const Evidence& at, const char* name, int64_t token, int64_t tokens) {
  const auto found = at.fed.find(name);
  if (found == at.fed.end()) return {};
  const auto count = static_cast<int64_t>(found->second.size()) / tokens;
  const auto first = found->second.begin() + token * count;
  return balls_of(std::vector<float>(first, first + count));
}

TokenBalls token_balls(const Evidence& at, const OperatorRun& run, int64_t token, int64_t tokens) {
  const auto of = [&](const char* name) { return of_token(at, name, token, tokens); };
  TokenBalls in{of("q"), of("k"), of("v"), of("g"), of("gk"), of("beta")};
  if (!run.is_recurrent) return in;
  NormedQk normed =
      qk_norm(bounded_from(in.q), bounded_from(in.k), run.shape, run.dialect, run.contract);
  in.q = balls_of(carried(std::move(normed.q)));
  in.k = balls_of(carried(std::move(normed.k)));
  return in;
}

std::vector<Ball> part(const std::vector<Ball>& all, int64_t begin, int64_t count) {
  return {all.begin() + begin, all.begin() + begin + count};
}

std::vector<Ball> decay_of(const TokenBalls& in, const OperatorRun& run, int64_t head) {
  const auto kd = static_cast<size_t>(run.shape.head_k_dim);
  const auto at = static_cast<size_t>(head);
  const bool linear = run.dialect.gate_input == Dialect::GateInput::linear_alpha;
  std::vector<Ball> decay(kd, exact_ball(1));
  if (!in.g.empty()) {
    for (Ball& row : decay) row = linear ? in.g[at] : exp_of(in.g[at], run.contract);
  }
  if (in.gk.empty()) return decay;
  const bool is_scalar = in.gk.size() == static_cast<size_t>(run.shape.num_v_heads);
  for (size_t i = 0; i < kd; ++i) {
    decay[i] = decay[i] * exp_of(in.gk[is_scalar ? at : at * kd + i], run.contract);
  }
  return decay;
}

DeltaHead head_of(const TokenBalls& in, const OperatorRun& run, int64_t head) {
  const Shape& s = run.shape;
  const int64_t kd = s.head_k_dim, vd = s.head_v_dim;
  const bool grouped = run.dialect.head_map == Dialect::HeadMap::grouped;
  const int64_t k_head = grouped ? head / s.v_heads_per_k_head() : head % s.num_k_heads;
  DeltaHead h;
  h.kd = static_cast<size_t>(kd);
  h.vd = static_cast<size_t>(vd);
  h.head = head;
  h.decay = decay_of(in, run, head);
  h.k = part(in.k, k_head * kd, kd);
  h.q = part(in.q, k_head * kd, kd);
  h.v = part(in.v, head * vd, vd);
  h.beta = in.beta[static_cast<size_t>(head)];
  return h;
}

void append(Bounded& all, const Bounded& more) {
  all.stored = more.stored;
  for (size_t i = 0; i < more.size(); ++i) {
    all.value.push_back(more.value[i]);
    all.bound.push_back(more.bound_of(i));
  }
}

FaultyArrays faulty_heads(const Evidence& at, const OperatorRun& run, const HeadRule& rule) {
  FaultyArrays faulty;
  bool changes_S = false, changes_o = false;
  Bounded S, o;
  const TokenBalls in = token_balls(at, run, 0, 1);
  for (int64_t head = 0; head < run.shape.num_v_heads; ++head) {
    DeltaHead h = head_of(in, run, head);
    const auto count = static_cast<int64_t>(h.kd * h.vd);
    h.S = part(balls_of(at.fed.at("S")), head * count, count);
    h.S_given = part(balls_of(at.gave.at("S")), head * count, count);
    const FaultyHead out = rule(h, run);
    changes_S = changes_S || !out.S.empty();
    changes_o = changes_o || !out.o.empty();
    const auto part_of = [](const Bounded& right, const Bounded& so_far, size_t size) {
      return slice(right, so_far.size(), size);
    };
    append(S, out.S.empty() ? part_of(at.right.at("S"), S, h.kd * h.vd) : bounded_from(out.S));
    append(o, out.o.empty() ? part_of(at.right.at("o"), o, h.vd) : bounded_from(out.o));
  }
  if (changes_S) faulty["S"] = std::move(S);
  if (changes_o) faulty["o"] = std::move(o);
  return faulty;
}

// All tokens of a call, one after the other; between them nothing is given, so that the error
// grows. A narrow store comes after the last.
FaultyArrays faulty_sequence(const Evidence& at, const OperatorRun& run, const HeadRule& rule) {
  const int64_t tokens = tokens_of(at, run), heads = run.shape.num_v_heads;
  std::vector<Ball> S = balls_of(at.fed.at("S")), o;
  const Ball scale = scale_of_q(run.dialect, run.shape);
  for (int64_t t = 0; t < tokens; ++t) {
    const TokenBalls in = token_balls(at, run, t, tokens);
    for (int64_t head = 0; head < heads; ++head) {
      DeltaHead h = head_of(in, run, head);
      const auto count = static_cast<int64_t>(h.kd * h.vd);
      h.S = part(S, head * count, count);
      h.S_given = h.state_after();
      FaultyHead out = rule(h, run);
      if (out.S.empty()) out.S = h.S_given;
      if (out.o.empty()) out.o = h.read(out.S, h.q);
      std::copy(out.S.begin(), out.S.end(), S.begin() + head * count);
      for (Ball& x : out.o) {
        o.push_back(run.dialect.scale_on == Dialect::ScaleOn::output ? x * scale : x);
      }
    }
  }
  FaultyArrays faulty{{"S", bounded_from(S)}, {"o", bounded_from(o)}};
  faulty["S"].stored = run.dialect.state_storage;
  faulty["o"].stored = run.dialect.output_storage;
  return faulty;
}

// A call of more steps than this is left to the forms that ask the reference for all of it: it
// would take seconds here, and the error grows with every token.
constexpr int64_t sequence_work_max = int64_t{1} << 20;

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
  const auto expect = [rule = std::move(rule)](
                          const Evidence& at,
                          const OperatorRun& run) -> std::optional<FaultyArrays> {
    const bool is_whole = at.gave.contains("S") && at.gave.contains("o") &&
                          at.right.contains("S") && at.right.contains("o");
    if (!is_whole) return std::nullopt;
    if (run.is_recurrent && tokens_of(at, run) * run.shape.state_count() > sequence_work_max) {
      return std::nullopt;
    }
    if (run.is_recurrent) return faulty_sequence(at, run, rule);
    return faulty_heads(at, run, rule);
  };
  return {std::move(name), std::move(sentence), Operator::delta_rule,
          expect,          std::move(explains), choices};
}

}  // namespace gdn
