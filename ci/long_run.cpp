// Tokens are drawn one after the other; the reference carries its state and its bound from call to
// call, the engine its own state.
#include "ci/long_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "invariants/harness/judge.h"
#include "reference/operators.h"
#include "reference/recurrence.h"
#include "reference/rng.h"

namespace gdn {
namespace {

constexpr int64_t tokens_a_call = 500;

Shape shape_of(const LongRun& run) {
  return {.hidden_size = run.head_dim,
          .num_k_heads = 1,
          .head_k_dim = run.head_dim,
          .num_v_heads = 1,
          .head_v_dim = run.head_dim,
          .conv_kernel = 1};
}

// A call's tokens. g is -1/horizon on average, beta the sigmoid's middle on average.
RecurrentInputs drawn(const LongRun& run, int64_t tokens, const Dialect& dialect, Rng& rng) {
  RecurrentInputs in;
  in.shape = shape_of(run);
  in.dialect = dialect;
  in.tokens = tokens;
  const auto step = static_cast<float>(2 / run.horizon);
  for (int64_t t = 0; t < tokens; ++t) {
    for (std::vector<float>* const array : {&in.q, &in.k, &in.v}) {
      for (int64_t i = 0; i < run.head_dim; ++i) array->push_back(rng.signed_unit());
    }
    in.g.push_back(-step * rng.unit());
    in.beta.push_back(rng.unit());
  }
  return in;
}

Bounded part(const std::vector<float>& all, int64_t token, int64_t width) {
  return exactly(all.data() + token * width, static_cast<size_t>(width));
}

std::vector<TokenInputs> token_inputs(const RecurrentInputs& in, const Contract& contract) {
  std::vector<TokenInputs> tokens;
  const int64_t width = in.shape.head_k_dim;
  for (int64_t t = 0; t < in.tokens; ++t) {
    NormedQk normed =
        qk_norm(part(in.q, t, width), part(in.k, t, width), in.shape, in.dialect, contract);
    TokenInputs token;
    token.q = carried(std::move(normed.q));
    token.k = carried(std::move(normed.k));
    token.v = part(in.v, t, width);
    token.g = part(in.g, t, 1);
    token.beta = part(in.beta, t, 1);
    tokens.push_back(std::move(token));
  }
  return tokens;
}

Verdict judge_outputs(const RecurrentRun& run, const std::vector<Bounded>& want, int64_t first) {
  Verdict all;
  const size_t width = want.front().size();
  for (size_t t = 0; t < want.size(); ++t) {
    const auto o = std::span(run.o).subspan(t * width, width);
    Verdict one = within("O", o, want[t]);
    if (!one.detail.empty()) {
      one.detail = fmt::format("token {}: {}", first + static_cast<int64_t>(t), one.detail);
    }
    all = t == 0 ? std::move(one) : both(std::move(all), std::move(one));
  }
  return all;
}

LongRunPoint point_of(const std::vector<float>& got, const Bounded& want) {
  LongRunPoint point;
  for (size_t i = 0; i < got.size(); ++i) {
    point.state_max = std::max(point.state_max, std::abs(want.value[i]));
    point.error_max = std::max(point.error_max, std::abs(got[i] - want.value[i]));
    point.bound_max = std::max(point.bound_max, want.bound_of(i));
  }
  return point;
}

bool served(const Verdict& conduct) { return conduct.outcome == Outcome::holds; }

}  // namespace

LongRunReport judge_long_run(const LongRun& run, const Lab& lab,
                             const std::function<void(int64_t judged)>& progress) {
  const Dialect& dialect = lab.description().dialect;
  LongRunReport report;
  RunningRecurrence exact(shape_of(run), dialect, lab.contract());
  Rng rng(run.seed);
  std::vector<float> state(static_cast<size_t>(run.head_dim * run.head_dim));
  int64_t next_point = 1;
  double worst_O = 0;
  while (report.judged < run.tokens) {
    const int64_t end = std::min({report.judged + tokens_a_call, next_point, run.tokens});
    RecurrentInputs in = drawn(run, end - report.judged, dialect, rng);
    in.initial_state = state;
    RecurrentRun given = lab.run_recurrent(in);
    if (!served(given.conduct)) {
      report.verdict = std::move(given.conduct);
      return report;
    }
    const std::vector<Bounded> want = exact.call(token_inputs(in, lab.contract()));
    Verdict of_O = judge_outputs(given, want, report.judged);
    const Bounded want_S = exact.state();
    state = std::move(given.states.back());
    Verdict of_S = within(fmt::format("S after {} tokens", end), state, want_S);
    worst_O = std::max(worst_O, of_O.worst_ratio);
    if (end == next_point || end == run.tokens) {
      LongRunPoint point = point_of(state, want_S);
      point.tokens = end;
      point.ratio_S = of_S.worst_ratio;
      point.ratio_O = worst_O;
      report.points.push_back(point);
      next_point *= 10;
    }
    Verdict now = both(std::move(of_O), std::move(of_S));
    report.verdict =
        report.judged == 0 ? std::move(now) : both(std::move(report.verdict), std::move(now));
    report.judged = end;
    progress(report.judged);
    if (report.verdict.outcome == Outcome::fails) break;
  }
  return report;
}

}  // namespace gdn
