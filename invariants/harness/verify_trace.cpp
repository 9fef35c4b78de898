// gdn-trace-1: the captured outputs and final state of the recurrence, and those of the engine's
// own recurrent operator on the same inputs. Both start from the same state on inputs known
// exactly, so the running bound is all that separates them from the truth.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "invariants/harness/verify_parts.h"
#include "reference/operators.h"
#include "reference/recurrence.h"

namespace gdn {
namespace {

// The part of a [T][width] array that belongs to one token.
std::span<const float> token_of(const std::vector<float>& all, int64_t tokens, int64_t token) {
  const size_t width = all.size() / static_cast<size_t>(tokens);
  return std::span(all).subspan(static_cast<size_t>(token) * width, width);
}

TokenInputs inputs_of(const TraceCapture& trace, int64_t token, const Dialect& dialect,
                      const Contract& contract) {
  const auto part = [&](const std::vector<float>& all) {
    const auto numbers = token_of(all, trace.tokens, token);
    return exactly(numbers.data(), numbers.size());
  };
  NormedQk normed = qk_norm(part(trace.q), part(trace.k), trace.shape, dialect, contract);
  TokenInputs in;
  in.q = carried(std::move(normed.q));
  in.k = carried(std::move(normed.k));
  in.v = part(trace.v);
  if (!trace.g.empty()) in.g = part(trace.g);
  if (!trace.gk.empty()) in.gk = part(trace.gk);
  in.beta = part(trace.beta);
  return in;
}

// final_state is [vh][kd][vd].
void judge_trace(const std::string& source, const TraceCapture& trace, const std::vector<float>& o,
                 const std::vector<float>& final_state, const TraceExpectation& want,
                 VerifyReport& report) {
  std::vector<TokenTensors> seen(static_cast<size_t>(trace.tokens));
  std::vector<TokenExpectation> expected(seen.size());
  for (size_t t = 0; t < seen.size(); ++t) {
    const auto numbers = token_of(o, trace.tokens, static_cast<int64_t>(t));
    seen[t][Tensor::O].assign(numbers.begin(), numbers.end());
    expected[t][Tensor::O] = want.o[t];
  }
  seen.back()[Tensor::S] = final_state;
  expected.back()[Tensor::S] = want.final_state;
  for (Judgement& row : judge(seen, expected, source)) {
    add_row(report, Scope::local, std::move(row));
  }
}

void judge_snapshots(const TraceCapture& trace, const Dialect& dialect,
                     const TraceExpectation& want, VerifyReport& report) {
  const auto size = static_cast<size_t>(trace.shape.state_count());
  for (size_t i = 0; i < want.snapshots.size(); ++i) {
    const std::vector<float> state = canonical_state(
        std::span(trace.snapshots).subspan(i * size, size), trace.shape, dialect.state_layout);
    const std::string name = fmt::format("snapshot {}", i);
    const size_t token = static_cast<size_t>(trace.tokens) - 1 - i;
    add_row(
        report, Scope::local,
        {"capture", Operator::delta_rule, name, 1, within(name, state, want.snapshots[i]), token});
  }
}

void verify_engine(const TraceCapture& trace, const Dialect& dialect, const Lab& lab,
                   VerifyReport& report) {
  RecurrentInputs inputs;
  inputs.shape = trace.shape;
  inputs.dialect = dialect;
  inputs.tokens = trace.tokens;
  inputs.q = trace.q;
  inputs.k = trace.k;
  inputs.v = trace.v;
  inputs.g = trace.g;
  inputs.gk = trace.gk;
  inputs.beta = trace.beta;
  inputs.initial_state = canonical_state(trace.initial_state, trace.shape, dialect.state_layout);
  const RecurrentRun run = lab.run_recurrent(inputs);
  if (!served(report, Scope::local, Operator::delta_rule, "O", run.conduct)) return;
  const TraceExpectation want = expect_trace(trace, dialect, lab.contract());
  judge_trace(lab.engine(), trace, run.o, run.states.back(), want, report);
}

}  // namespace

Dialect dialect_of_trace(const TraceCapture& trace, const std::optional<Dialect>& asked) {
  if (!asked) return trace.dialect;
  Dialect dialect = *asked;
  dialect.decay = trace.dialect.decay;
  dialect.gate_input = trace.dialect.gate_input;
  dialect.input_storage = trace.dialect.input_storage;
  dialect.output_storage = trace.dialect.output_storage;
  dialect.state_storage = trace.dialect.state_storage;
  return dialect;
}

Contract contract_of_source(const TraceCapture& trace) {
  return trace.is_triton ? triton_contract() : any_f32_contract();
}

TraceExpectation expect_trace(const TraceCapture& trace, const Dialect& dialect,
                              const Contract& contract) {
  RunningRecurrence running(
      trace.shape, dialect, contract,
      canonical_state(trace.initial_state, trace.shape, dialect.state_layout));
  const auto tokens = static_cast<size_t>(trace.tokens);
  const size_t snapshots = trace.snapshots.size() / static_cast<size_t>(trace.shape.state_count());
  std::vector<TokenInputs> all;
  for (int64_t t = 0; t < trace.tokens; ++t) {
    all.push_back(inputs_of(trace, t, dialect, contract));
  }
  TraceExpectation want;
  if (snapshots == 0) {
    want.o = running.call(all);
  } else {
    // The states on the way are needed too: token by token, the newest first.
    for (size_t t = 0; t < tokens; ++t) {
      want.o.push_back(std::move(running.call({all[t]}).front()));
      if (t + snapshots >= tokens) {
        want.snapshots.insert(want.snapshots.begin(), running.state());
      }
    }
  }
  want.final_state = running.state();
  for (Bounded& o : want.o) o.stored = dialect.output_storage;
  for (Bounded& state : want.snapshots) state.stored = dialect.state_storage;
  want.final_state.stored = dialect.state_storage;
  return want;
}

void verify_trace(const TraceCapture& trace, const VerifyOptions& options, VerifyReport& report) {
  const Dialect dialect = dialect_of_trace(trace, options.dialect);
  const Contract contract = contract_of_source(trace);
  report.capture_dialect = dialect.name;
  report.capture_contract = contract.name;
  show_progress(options, "capture", 0.1);
  const TraceExpectation want = expect_trace(trace, dialect, contract);
  judge_trace("capture", trace, trace.o,
              canonical_state(trace.final_state, trace.shape, dialect.state_layout), want, report);
  judge_snapshots(trace, dialect, want, report);
  if (options.lab == nullptr) return;
  show_progress(options, "engine", 0.6);
  verify_engine(trace, dialect, *options.lab, report);
}

}  // namespace gdn
