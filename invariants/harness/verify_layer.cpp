// gdn-oracle-1: every tensor that the layer passed on, local and global, then a run of the engine
// on the same weights and inputs, local and global.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "invariants/harness/verify_parts.h"

namespace gdn {
namespace {

// A capture of a large shape holds a few heads of the final state only: each is judged against its
// slice, and the row is theirs together. Indices are those of the whole state.
Judgement judge_heads(const std::vector<CapturedHead>& heads, const Bounded& state, size_t token) {
  Judgement row{"capture", Operator::delta_rule, std::string(name_of(Tensor::S)), 1, {}, token};
  for (size_t i = 0; i < heads.size(); ++i) {
    const size_t size = heads[i].values.size();
    const size_t begin = static_cast<size_t>(heads[i].head) * size;
    Verdict verdict = within(fmt::format("S of token {}, head {}", token, heads[i].head),
                             heads[i].values, slice(state, begin, size));
    verdict.worst_index += begin;
    row.verdict = i == 0 ? std::move(verdict) : both(std::move(row.verdict), std::move(verdict));
  }
  return row;
}

void judge_capture(const LayerCapture& capture, const std::vector<TokenExpectation>& want,
                   Scope scope, VerifyReport& report) {
  std::vector<Judgement> rows = judge(capture.seen, want, "capture");
  const auto state = want.back().find(Tensor::S);
  if (state != want.back().end()) {
    const auto later = [](const Judgement& row) { return row.op > Operator::delta_rule; };
    rows.insert(std::find_if(rows.begin(), rows.end(), later),
                judge_heads(capture.final_state, state->second, want.size() - 1));
  }
  for (Judgement& row : rows) add_row(report, scope, std::move(row));
}

void verify_engine(LayerInputs inputs, const Lab& lab, const VerifyOptions& options,
                   VerifyReport& report) {
  // The engine is fed token by token, in its own dialect.
  inputs.dialect = lab.description().dialect;
  inputs.calls.clear();
  show_progress(options, "engine: run", 0.4);
  const LayerRun run = lab.run_layer(inputs);
  if (!served(report, Scope::local, Operator::out_proj, "OUT", run.conduct)) return;
  show_progress(options, "engine: local", 0.5);
  for (Judgement& row :
       judge(run.seen, expect_local(inputs, run.seen, lab.contract()), lab.engine())) {
    add_row(report, Scope::local, std::move(row));
  }
  show_progress(options, "engine: global", 0.75);
  for (Judgement& row : judge(run.seen, expect_global(inputs, lab.contract()), lab.engine())) {
    add_row(report, Scope::global, std::move(row));
  }
}

}  // namespace

Contract contract_of_source(const LayerCapture&) { return torch_cpu_contract(); }

void verify_layer(const LayerCapture& capture, const VerifyOptions& options, VerifyReport& report) {
  LayerInputs inputs = capture.inputs;
  if (options.dialect) inputs.dialect = *options.dialect;
  const Contract contract = contract_of_source(capture);
  report.capture_dialect = inputs.dialect.name;
  report.capture_contract = contract.name;

  show_progress(options, "capture: local", 0.05);
  judge_capture(capture, expect_local(inputs, capture.seen, contract), Scope::local, report);
  show_progress(options, "capture: global", 0.2);
  judge_capture(capture, expect_global(inputs, contract), Scope::global, report);
  if (static_cast<int64_t>(capture.final_state.size()) < inputs.shape.num_v_heads) {
    report.notes.push_back(fmt::format("the capture holds {} of {} heads of the final state",
                                       capture.final_state.size(), inputs.shape.num_v_heads));
  }
  if (options.lab != nullptr) verify_engine(capture.inputs, *options.lab, options, report);
}

}  // namespace gdn
