// What a run of `check` judges: the cases, the engines, the invariants, and who is asked what.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ci/case_files.h"
#include "ci/commands.h"
#include "ci/judging.h"
#include "ci/shard.h"

namespace gdn {

inline constexpr uint64_t default_seed = 1;

struct Plan {
  uint64_t seed = default_seed;
  std::vector<CaseFile> corpus;
  size_t drawn = 0;  // at most, by all shards
  // Every case has an index, those of the corpus first. A shard judges every count-th of them.
  Shard shard;
  EnginesHere engines;
  Judging judging;

  size_t index_at(size_t place) const { return shard.index + place * shard.count; }
  size_t places() const {
    return (corpus.size() + drawn + shard.count - 1 - shard.index) / shard.count;
  }
  Case case_of(size_t index) const;
  std::string origin(size_t index) const {
    if (index < corpus.size()) return corpus[index].path;
    return fmt::format("case {} of seed {}", index - corpus.size(), seed);
  }
};

// The same plan for every number of processes. Other than exit_ok after a line that says why. The
// plan is referred to by its own judging: it stays where it is.
ExitStatus make_plan(const CheckCommand& command, Plan& plan);
std::string command_of(const CheckCommand& command, const Plan& plan);

// The simulator takes twenty times as long as the twin, and more with its checks: a smoke run asks
// its engines, and a GPU's, about one pair of case and invariant in so many.
int64_t smoke_one_in(const std::string& engine);

}  // namespace gdn
