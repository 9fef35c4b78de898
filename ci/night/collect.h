// `deltaproof collect`: what the stages of a night wrote, as the records of the night.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ci/exit_status.h"
#include "ci/night/night.h"

namespace gdn {

struct CollectCommand {
  std::vector<std::string> folders;  // one, that ci/nightly wrote; with `merge` files of records
  bool merge = false;
  std::string out;  // empty: night.jsonl in the folder
  std::string id, commit, subject, began, command, seed, shard, gpu, driver;
  bool unfinished = false;
};
ExitStatus run_collect(const CollectCommand& command);

// What a stage of the records is called that is about a file which could not be read.
inline constexpr std::string_view collect_stage = "collect ";

// Of "cuda: no GPU can be used" and "engine " the gap of "engine cuda".
NightGap gap_of(const std::string& kind, const std::string& words);
// What several stages or shards met stands once.
void drop_repeated(std::vector<NightGap>& gaps);

// Adds what a stage left in `folder`; files that are not there say nothing. One that cannot be
// read as what it should be is left out whole, and is a failed stage `collect FILE` that says why.
//
//   file              written by                      records
//   stages.tsv        ci/nightly                      stage
//   panel.jsonl       panel --records                 as they are
//   oracles.*.json    verify --json                   findings, gaps
//   check.json        check --json                    invariants, findings, gaps
//   triage.json       triage --json of check.json     the diagnosis of its findings
//   replay.json       replay --json                   findings that check has not
//   matrix.json       matrix --until-killed --json    mutants
//   bench.json        a Google Benchmark              benches, and bench_layer.json likewise
//   gpu/gpu.json      ci/gpu                          benches, findings
//   fuzz/TARGET/...   ci/fuzz                         fuzz, findings
//   coverage/outcomes.tsv  ci/coverage                coverage
// A gap that several stages met stands once.
void collect_stages(const std::string& folder, Night& night);

// Shards of one night, in the order of their numbers, as the night that one run would have been:
// verdicts are added up, of an invariant's findings on an engine those are kept that one run keeps,
// and a stage is as its worst part. No value, and *why, where they are not shards of one night, or
// one is there twice. Complete only if all shards are there and complete.
std::optional<Night> merged(std::vector<Night> shards, std::string* why);

}  // namespace gdn
