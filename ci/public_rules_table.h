// Mutants against the acceptance rules of public test suites, beside the matrix of invariants.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "ci/public_rules_cases.h"

namespace gdn {

struct RulesTable {
  std::string command, version;
  std::array<size_t, rule_range_count> cases = {};  // asked about, of each range
  // Of a right engine: how many cases of each range each rule rejects. False alarms of the rule.
  struct Right {
    std::string engine;
    std::array<std::array<size_t, public_rule_count>, rule_range_count> rejected = {};
  };
  std::vector<Right> right;
  // A rule kills a mutant in a range if it rejects a case there that it accepts of the twin.
  struct Row {
    std::string mutant, op;
    std::array<RuleSet, rule_range_count> killed = {};
    size_t invariants = 0;  // that kill it

    RuleSet killed_on_own_ranges() const;
    bool survives_own_ranges() const { return killed_on_own_ranges().none(); }
  };
  std::vector<Row> rows;
};

// Judges mutants, and beside them the right engines that are here, over processes. `others` are
// cases of our regimes, with what a right engine gives.
struct RuledMutant {
  EngineSource engine;
  std::string op;
};
RulesTable judge_by_rules(const std::vector<RuledMutant>& mutants,
                          const std::vector<RuledCase>& others, int jobs);

std::string as_text(const RulesTable& table);
std::string as_markdown(const RulesTable& table);
inline constexpr const char* rules_part = "public rules";
// The matrix's JSON with a key `public_rules`, and in each of its rows one of that name too.
std::string with_rules(const std::string& matrix_json, const RulesTable& table);

}  // namespace gdn
