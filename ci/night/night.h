// A night: what one run of ci/nightly found, as JSON lines. docs/records.md has the schema.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "invariants/harness/ratio_counts.h"

namespace gdn {

// A change that a reader could trip over raises it. Keys that a reader does not know it skips.
inline constexpr int night_version = 1;

struct NightMachine {
  std::string cpu, os, compiler;  // in their own words, or empty
  int cores = 0;
  std::string gpu, driver;  // empty: none can be used
};

// One step of the night, in the order of the run.
struct NightStage {
  std::string name;   // as ci/nightly has it: oracles
  std::string state;  // passed, failed, timed_out, interrupted, not_run
  int status = 0;     // the exit status; 0 of one that did not run
  double seconds = 0, budget_seconds = 0;
  std::string why;  // one line; empty if it passed
};

// What was not judged in this night although it could have been: an engine, an invariant.
struct NightGap {
  std::string what, why;  // "engine cuda", "no GPU can be used: ..."
};

// An operator's tensor as an engine computes it, on the fixed cases of a panel. A sample is the
// worst error/bound of one token's elements, of the operator on what it was fed.
struct NightTensor {
  std::string panel;  // its version: "1". Of different panels nothing is compared
  std::string engine, op, tensor;
  size_t samples = 0, undecided = 0;   // undecided: elements
  double p50 = 0, p99 = 0, worst = 0;  // nearest rank: of n samples number ceil(p n)
  std::string digest;                  // 16 hexadecimal digits over all of the engine's numbers
  RatioCounts ratios;                  // the same samples, counted
};

// An invariant on an engine, over the corpus and the cases that the commit draws.
struct NightInvariant {
  std::string engine, invariant;
  size_t holds = 0, fails = 0, undecided = 0, suspicious = 0, engine_errors = 0, not_served = 0;
  double worst_ratio = 0;
};

// A figure of speed. The spread within a night, fastest to slowest, is part of it.
struct NightBench {
  std::string machine;  // the GPU or CPU that it was measured on: others are not compared with it
  std::string name, unit;
  double median = 0, fastest = 0, slowest = 0;
};

// Something that fails, grouped: (invariant, op, engine, diagnosis) is what makes two the same.
struct NightFinding {
  std::string invariant, op, engine;
  std::string diagnosis;  // the cause's name by triage, or empty
  std::string detail;     // of the smallest case: what, where, expected, got
  std::string case_text;  // the smallest case, as text; empty if there is none
  std::string replay;     // the command that shows it again
  size_t seen = 1;        // how often in this night
  // The numbers of the cases that led to it, among those of all shards: of what check found.
  std::vector<std::string> indices = {};
};

struct NightMutant {
  std::string name, op;
  std::string state;                   // killed, alive, equivalent
  std::vector<std::string> killed_by;  // invariants
};

struct NightFuzz {
  std::string target;
  uint64_t executions = 0;
  double seconds = 0;
  size_t corpus_inputs = 0, findings = 0;
};

struct NightCoverage {
  std::string what;  // "lines", "branches"
  uint64_t covered = 0, total = 0;
};

struct Night {
  std::string id;       // BEGAN-COMMIT: of one night all shards have the same
  std::string commit;   // 40 hexadecimal digits, with "-dirty" where files differ from it
  std::string subject;  // the commit's, one line; anyone's text
  std::string began;    // 2026-11-30T02:00:00Z
  std::string command;  // as it was called
  std::string seed;     // of the drawn cases
  int shard_index = 1, shard_count = 1;  // 1/1: the whole; what was merged says 1/1 too
  NightMachine machine;
  std::vector<NightStage> stages;
  std::vector<NightGap> gaps;
  std::vector<NightTensor> tensors;
  std::vector<NightInvariant> invariants;
  std::vector<NightBench> benches;
  std::vector<NightFinding> findings;
  std::vector<NightMutant> mutants;
  std::vector<NightFuzz> fuzz;
  std::vector<NightCoverage> coverage;
  bool complete = false;  // its last line is there: nothing was cut off
  int status = 5;         // the exit status of the night
};

// The records alone, without header and end: what one stage of a night found.
std::string print_records(const Night& night);
// Adds what print_records wrote. Otherwise false, and *why names the line.
bool add_records(std::string_view text, Night& night, std::string* why);

// 16 hexadecimal digits that depend on what groups a finding alone: the same in every night.
std::string fingerprint(const NightFinding& finding);

// One line a record, the header first; the last line only if the night is complete. Infinite
// figures are the text "inf"; no NaN. What is no UTF-8 is replaced.
std::string print(const Night& night);
// The reverse. A last line that was cut short by a crash is left out and the night is not complete;
// anything else that is no record is an error: no value, and *why names the line. Text that is not
// UTF-8, figures below zero where none can be, two headers: errors too.
std::optional<Night> parse_night(std::string_view text, std::string* why);

}  // namespace gdn
