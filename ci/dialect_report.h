// What `deltaproof dialects` prints: where presets differ, on which facts, and what shows it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ci/dialect_pairs.h"

namespace gdn {

// Two dialects and what the search found of each subject, in the order of told_subjects().
struct PairRow {
  std::string one, other;
  std::vector<std::string> dimensions;  // in which they differ
  std::vector<std::optional<ToldApart>> found;
  std::vector<size_t> cases;  // of `found`: numbers of DialectReport::cases; 0 where there is none
};

// One dimension alone, the others as deltaproof has them.
struct DimensionRow {
  std::string dimension, one, other;
  std::optional<ToldApart> found;
  size_t number = 0;
  std::string why;  // no number shows it; empty where one does
};

struct DialectReport {
  std::string command;
  std::vector<PairRow> pairs;
  std::vector<DimensionRow> dimensions;
  std::vector<Case> cases;  // those above but for their line `dialect`; case n is cases[n - 1]
};

DialectReport compare_dialects();
// What is wrong: a pair or a dimension that nothing shows and nothing explains.
std::vector<std::string> problems_of(const DialectReport& report);

std::string as_text(const DialectReport& report);
std::string as_json(const DialectReport& report);
std::string as_markdown(const DialectReport& report);
inline constexpr const char* dialects_part = "dialects";

}  // namespace gdn
