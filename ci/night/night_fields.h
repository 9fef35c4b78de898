// What each record of a night holds: key by key, once for writing and for reading. `fields` may be
// anything that takes the kinds of values below; docs/records.md is the same for people. A key more
// is a column more: a version of history_schema.cpp adds it.
#pragma once

#include <array>
#include <string_view>
#include <type_traits>

#include "ci/night/night.h"

namespace gdn {

template <class T, class Record>
concept Of = std::is_same_v<std::remove_const_t<T>, Record>;

inline constexpr std::array<std::string_view, 5> stage_states = {"passed", "failed", "timed_out",
                                                                 "interrupted", "not_run"};
inline constexpr std::array<std::string_view, 3> mutant_states = {"killed", "alive", "equivalent"};

// The first line of a night.
void name_fields(auto& fields, Of<Night> auto& night) {
  fields.id("id", night.id);
  fields.commit("commit", night.commit);
  fields.text("subject", night.subject);
  fields.moment("began", night.began);
  fields.text("command", night.command);
  fields.text("seed", night.seed);
  fields.count("shard_index", night.shard_index);
  fields.count("shard_count", night.shard_count);
  fields.text("cpu", night.machine.cpu);
  fields.text("os", night.machine.os);
  fields.text("compiler", night.machine.compiler);
  fields.count("cores", night.machine.cores);
  fields.text("gpu", night.machine.gpu);
  fields.text("driver", night.machine.driver);
}

void name_fields(auto& fields, Of<NightStage> auto& stage) {
  fields.text("name", stage.name);
  fields.choice("state", stage_states, stage.state);
  fields.count("status", stage.status);
  fields.figure("seconds", stage.seconds);
  fields.figure("budget_seconds", stage.budget_seconds);
  fields.text("why", stage.why);
}

void name_fields(auto& fields, Of<NightGap> auto& gap) {
  fields.text("what", gap.what);
  fields.text("why", gap.why);
}

void name_fields(auto& fields, Of<NightTensor> auto& tensor) {
  fields.text("panel", tensor.panel);
  fields.text("engine", tensor.engine);
  fields.text("operator", tensor.op);
  fields.text("tensor", tensor.tensor);
  fields.count("samples", tensor.samples);
  fields.count("undecided", tensor.undecided);
  fields.figure("p50", tensor.p50);
  fields.figure("p99", tensor.p99);
  fields.figure("worst", tensor.worst);
  fields.digest("digest", tensor.digest);
  fields.ratios("ratios", tensor.ratios);
}

void name_fields(auto& fields, Of<NightInvariant> auto& invariant) {
  fields.text("engine", invariant.engine);
  fields.text("invariant", invariant.invariant);
  fields.count("holds", invariant.holds);
  fields.count("fails", invariant.fails);
  fields.count("undecided", invariant.undecided);
  fields.count("suspicious", invariant.suspicious);
  fields.count("engine_errors", invariant.engine_errors);
  fields.count("not_served", invariant.not_served);
  fields.figure("worst_ratio", invariant.worst_ratio);
}

void name_fields(auto& fields, Of<NightBench> auto& bench) {
  fields.text("machine", bench.machine);
  fields.text("name", bench.name);
  fields.text("unit", bench.unit);
  fields.figure("median", bench.median);
  fields.figure("fastest", bench.fastest);
  fields.figure("slowest", bench.slowest);
}

void name_fields(auto& fields, Of<NightFinding> auto& finding) {
  fields.text("invariant", finding.invariant);
  fields.text("operator", finding.op);
  fields.text("engine", finding.engine);
  fields.text("diagnosis", finding.diagnosis);
  fields.text("detail", finding.detail);
  fields.text("case", finding.case_text);
  fields.text("replay", finding.replay);
  fields.count("seen", finding.seen);
  fields.count("index", finding.index);
}

void name_fields(auto& fields, Of<NightMutant> auto& mutant) {
  fields.text("name", mutant.name);
  fields.text("operator", mutant.op);
  fields.choice("state", mutant_states, mutant.state);
  fields.texts("killed_by", mutant.killed_by);
}

void name_fields(auto& fields, Of<NightFuzz> auto& fuzz) {
  fields.text("target", fuzz.target);
  fields.count("executions", fuzz.executions);
  fields.figure("seconds", fuzz.seconds);
  fields.count("corpus_inputs", fuzz.corpus_inputs);
  fields.count("findings", fuzz.findings);
}

void name_fields(auto& fields, Of<NightCoverage> auto& coverage) {
  fields.text("what", coverage.what);
  fields.count("covered", coverage.covered);
  fields.count("total", coverage.total);
}

// Every kind of record between the first and the last line, by name, in the order that they are
// written.
void each_kind(auto& night, auto&& take) {
  take("stage", night.stages);
  take("gap", night.gaps);
  take("tensor", night.tensors);
  take("invariant", night.invariants);
  take("bench", night.benches);
  take("finding", night.findings);
  take("mutant", night.mutants);
  take("fuzz", night.fuzz);
  take("coverage", night.coverage);
}

}  // namespace gdn
