// What an engine gave in a case, taken apart operator by operator by hand: evidence for the search
// of causes.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ci/triage/right_of.h"
#include "invariants/harness/lab.h"
#include "reference/case.h"

namespace gdn::testing {

using Arrays = std::map<std::string, std::vector<float>>;

// Runs of a case, in the order of operators, and the numbers that they point into.
struct CaseEvidence {
  std::shared_ptr<Numbers> numbers;
  std::vector<OperatorRun> runs;
};

inline OperatorRun run_of(const Case& c, const Lab& lab, Operator op, std::string matrix = "") {
  OperatorRun run;
  run.op = op;
  run.matrix = std::move(matrix);
  run.shape = c.shape;
  run.dialect = c.dialect;
  run.contract = lab.contract();
  return run;
}

inline void add_token(OperatorRun& run, int64_t token, Arrays fed, Arrays gave) {
  Evidence& at = run.tokens.emplace_back();
  at.token = token;
  for (auto& [name, array] : fed) {
    if (!array.empty()) at.fed[name] = std::move(array);
  }
  for (auto& [name, array] : gave) {
    if (!array.empty()) at.gave[name] = std::move(array);
  }
  at.right = right_of(at, run);
}

inline CaseEvidence operator_evidence(const Case& c, const Lab& lab) {
  CaseEvidence evidence;
  std::string why;
  const Observation seen = lab.run(c);
  std::optional<Numbers> numbers = materialise(c, &why);
  if (!numbers || seen.calls.size() != 1 || !seen.calls[0].ok()) return evidence;
  evidence.numbers = std::make_shared<Numbers>(*std::move(numbers));
  const Numbers& n = *evidence.numbers;
  OperatorRun run = run_of(c, lab, *operator_of(c.subject));
  run.is_recurrent = c.subject == Subject::recurrent;
  run.weights = {.rows = c.rows, .cols = c.cols};
  if (!n.tiles.empty()) run.weights.tiles = n.tiles.data();
  if (n.arrays.contains("weight")) run.weights.f32 = n.arrays.at("weight").data();
  if (run.op == Operator::in_proj) run.matrix = "qkv";
  if (run.op == Operator::out_proj) run.matrix = "out";
  Arrays fed = n.arrays;
  const bool is_projection = run.op == Operator::in_proj || run.op == Operator::out_proj;
  if (is_projection) fed.erase("weight");
  add_token(run, 0, std::move(fed), seen.calls[0].arrays);
  evidence.runs.push_back(std::move(run));
  return evidence;
}

inline std::vector<float> part(const std::vector<float>& all, int64_t begin, int64_t count) {
  return {all.begin() + begin, all.begin() + begin + count};
}

inline std::vector<OperatorRun> runs_of(const Case& c, const Lab& lab, const LayerWeights& w,
                                        const std::vector<std::vector<float>>& h,
                                        const std::vector<TokenTensors>& seen) {
  const Shape& s = c.shape;
  std::vector<OperatorRun> projections;
  const std::pair<const char*, Tensor> outputs[] = {
      {"qkv", Tensor::QKV}, {"z", Tensor::Z}, {"b", Tensor::B}, {"a", Tensor::A}};
  const Matrix matrices[] = {w.qkv, w.z, w.b, w.a};
  for (size_t m = 0; m < 4; ++m) {
    projections.push_back(run_of(c, lab, Operator::in_proj, outputs[m].first));
    projections.back().weights = matrices[m];
  }
  OperatorRun gates = run_of(c, lab, Operator::gates), conv = run_of(c, lab, Operator::conv),
              norm = run_of(c, lab, Operator::qk_norm), rule = run_of(c, lab, Operator::delta_rule),
              gated = run_of(c, lab, Operator::gated_norm),
              out = run_of(c, lab, Operator::out_proj, "out");
  out.weights = w.out;
  std::vector<float> hist(static_cast<size_t>(s.history_count()));
  std::vector<float> S(static_cast<size_t>(s.state_count()));
  for (size_t i = 0; i < seen.size(); ++i) {
    const auto t = static_cast<int64_t>(i);
    TokenTensors now = seen[i];
    for (size_t m = 0; m < 4; ++m) {
      add_token(projections[m], t, {{"x", h[i]}}, {{"y", now[outputs[m].second]}});
    }
    add_token(
        gates, t,
        {{"a", now[Tensor::A]}, {"b", now[Tensor::B]}, {"A_log", w.A_log}, {"dt_bias", w.dt_bias}},
        {{"beta", now[Tensor::BETA]}, {"g", now[Tensor::G]}});
    add_token(conv, t, {{"x", now[Tensor::QKV]}, {"hist", hist}, {"weight", w.conv}},
              {{"y", now[Tensor::CONV]}, {"hist", now[Tensor::HIST]}, {"v", now[Tensor::V]}});
    add_token(norm, t,
              {{"q", part(now[Tensor::CONV], 0, s.k_dim())},
               {"k", part(now[Tensor::CONV], s.k_dim(), s.k_dim())}},
              {{"q", now[Tensor::Q]}, {"k", now[Tensor::K]}});
    add_token(rule, t,
              {{"q", now[Tensor::Q]},
               {"k", now[Tensor::K]},
               {"v", now[Tensor::V]},
               {"g", now[Tensor::G]},
               {"beta", now[Tensor::BETA]},
               {"S", S},
               {"next", now[Tensor::ONORM]}},
              {{"S", now[Tensor::S]}, {"o", now[Tensor::O]}});
    add_token(gated, t, {{"o", now[Tensor::O]}, {"z", now[Tensor::Z]}, {"weight", w.norm}},
              {{"y", now[Tensor::ONORM]}});
    add_token(out, t, {{"x", now[Tensor::ONORM]}}, {{"y", now[Tensor::OUT]}});
    hist = now[Tensor::HIST];
    S = now[Tensor::S];
  }
  std::vector<OperatorRun> runs = std::move(projections);
  for (OperatorRun* run : {&gates, &conv, &norm, &rule, &gated, &out}) {
    runs.push_back(std::move(*run));
  }
  return runs;
}

// Layer 0 through `step`, at most `tokens_max` tokens of the case's stream.
inline CaseEvidence layer_evidence(const Case& given, const Lab& lab, int64_t tokens_max) {
  CaseEvidence evidence;
  Case c = given;
  c.tokens = std::min(c.tokens, tokens_max);
  c.calls = stepped_calls(c);
  std::string why;
  std::optional<Numbers> numbers = materialise(c, &why);
  if (!numbers) return evidence;
  evidence.numbers = std::make_shared<Numbers>(*std::move(numbers));
  std::vector<TokenTensors> seen;
  for (const CallObserved& call : lab.run(c).calls) {
    if (!call.ok()) return evidence;
    if (!call.reads.empty()) seen.push_back(call.reads);
  }
  const LayerWeights w = view_of(evidence.numbers->layers[0], c.shape);
  evidence.runs = runs_of(c, lab, w, evidence.numbers->h, seen);
  return evidence;
}

inline CaseEvidence evidence_of(const Case& c, const Lab& lab, int64_t tokens_max = 4) {
  if (c.subject == Subject::layer) return layer_evidence(c, lab, tokens_max);
  return operator_evidence(c, lab);
}

inline bool is_right(const OperatorRun& run) {
  for (const Evidence& at : run.tokens) {
    for (const auto& [name, want] : at.right) {
      const auto got = at.gave.find(name);
      if (got == at.gave.end()) continue;
      if (within(name, got->second, want).outcome == Outcome::fails) return false;
    }
  }
  return true;
}

}  // namespace gdn::testing
