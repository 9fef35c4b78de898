// Shards of one night as the night that one run would have been.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "ci/check_report.h"
#include "ci/night/collect.h"

namespace gdn {
namespace {

uint64_t number_of(const std::string& text) {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Of each invariant on each engine a run of check saves the failures of the first cases, and no two
// that lead to one smallest case: the same here, of all shards.
void merge_findings(Night& night) {
  std::map<std::pair<std::string, std::string>, size_t> failures;
  for (const NightInvariant& row : night.invariants) {
    failures[{row.invariant, row.engine}] = row.fails + row.engine_errors;
  }
  // By invariant and engine each failing case, in the order of a run.
  std::map<std::pair<std::string, std::string>, std::map<uint64_t, size_t>> found;
  std::vector<bool> is_kept(night.findings.size());
  for (size_t i = 0; i < night.findings.size(); ++i) {
    const NightFinding& finding = night.findings[i];
    // What check did not find stands for itself.
    is_kept[i] = finding.indices.empty();
    for (const std::string& index : finding.indices) {
      found[{finding.invariant, finding.engine}][number_of(index)] = i;
    }
  }
  std::vector<NightFinding> kept;
  for (size_t i = 0; i < night.findings.size(); ++i) {
    if (is_kept[i]) kept.push_back(night.findings[i]);
  }
  for (const auto& [of, cases] : found) {
    std::map<std::string, size_t> places;  // in kept, by the smallest case
    size_t saved = 0;
    for (const auto& [index, i] : cases) {
      if (saved++ == failures_saved_max) break;
      const auto [at, is_new] = places.try_emplace(night.findings[i].case_text, kept.size());
      if (is_new) {
        kept.push_back(night.findings[i]);
        kept.back().indices.clear();
        kept.back().seen = failures[of];
      }
      kept[at->second].indices.push_back(std::to_string(index));
    }
  }
  night.findings = std::move(kept);
}

void merge_invariants(Night& night) {
  std::map<std::pair<std::string, std::string>, size_t> places;
  std::vector<NightInvariant> rows;
  for (const NightInvariant& row : night.invariants) {
    const auto [at, is_new] = places.try_emplace({row.invariant, row.engine}, rows.size());
    if (is_new) {
      rows.push_back(row);
      continue;
    }
    NightInvariant& sum = rows[at->second];
    sum.holds += row.holds;
    sum.fails += row.fails;
    sum.undecided += row.undecided;
    sum.suspicious += row.suspicious;
    sum.engine_errors += row.engine_errors;
    sum.not_served += row.not_served;
    sum.worst_ratio = std::max(sum.worst_ratio, row.worst_ratio);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const NightInvariant& a, const NightInvariant& b) {
    return std::tie(a.invariant, a.engine) < std::tie(b.invariant, b.engine);
  });
  night.invariants = std::move(rows);
}

// What failed in one shard failed. What one ran that another left out ran.
size_t rank_of(const NightStage& stage) {
  constexpr const char* order[] = {"not_run", "passed", "interrupted", "timed_out", "failed"};
  return static_cast<size_t>(std::find(std::begin(order), std::end(order), stage.state) - order);
}

void merge_stages(Night& night) {
  std::vector<NightStage> stages;
  for (const NightStage& stage : night.stages) {
    const auto at = std::find_if(stages.begin(), stages.end(),
                                 [&](const NightStage& other) { return other.name == stage.name; });
    if (at == stages.end()) {
      stages.push_back(stage);
      continue;
    }
    const double seconds = std::max(at->seconds, stage.seconds);
    if (rank_of(stage) > rank_of(*at)) *at = stage;
    at->seconds = seconds;
  }
  night.stages = std::move(stages);
}

// What one shard did not judge, and another did, is no gap.
void merge_gaps(Night& night) {
  std::set<std::string> judged;
  for (const NightInvariant& row : night.invariants) judged.insert("invariant " + row.invariant);
  std::erase_if(night.gaps, [&](const NightGap& gap) { return judged.contains(gap.what); });
  drop_repeated(night.gaps);
}

template <class Record>
void append(std::vector<Record>& all, const std::vector<Record>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

std::optional<Night> merged(std::vector<Night> shards, std::string* why) {
  std::sort(shards.begin(), shards.end(),
            [](const Night& a, const Night& b) { return a.shard_index < b.shard_index; });
  Night night = shards.front();
  for (size_t i = 1; i < shards.size(); ++i) {
    const Night& shard = shards[i];
    if (shard.id != night.id || shard.commit != night.commit ||
        shard.shard_count != night.shard_count || shard.seed != night.seed) {
      *why = fmt::format(
          "shard {} of {} is of another night ({} at {}, seed {}) than shard {} of {} "
          "({} at {}, seed {})",
          shard.shard_index, shard.shard_count, shard.id, shard.commit, shard.seed,
          night.shard_index, night.shard_count, night.id, night.commit, night.seed);
      return std::nullopt;
    }
    if (shard.shard_index == shards[i - 1].shard_index) {
      *why = fmt::format("shard {} of {} is there twice", shard.shard_index, shard.shard_count);
      return std::nullopt;
    }
    append(night.stages, shard.stages);
    append(night.gaps, shard.gaps);
    append(night.tensors, shard.tensors);
    append(night.invariants, shard.invariants);
    append(night.benches, shard.benches);
    append(night.findings, shard.findings);
    append(night.mutants, shard.mutants);
    append(night.fuzz, shard.fuzz);
    append(night.coverage, shard.coverage);
    night.complete = night.complete && shard.complete;
    night.status =
        combined(static_cast<ExitStatus>(night.status), static_cast<ExitStatus>(shard.status));
    night.began = std::min(night.began, shard.began);
  }
  night.complete = night.complete && std::ssize(shards) == night.shard_count;
  night.shard_index = night.shard_count = 1;
  merge_invariants(night);
  merge_findings(night);
  merge_stages(night);
  merge_gaps(night);
  return night;
}

}  // namespace gdn
