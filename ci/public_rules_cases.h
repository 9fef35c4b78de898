// What the public rules are asked about: cases in the input ranges of the suites that they come
// from, and any other case, each with what it should give.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ci/public_rules.h"
#include "invariants/harness/lab.h"

namespace gdn {

// The input ranges, and where cases of our own regimes stand.
enum class RuleRange : size_t { a, b, c, regimes };
inline constexpr size_t rule_range_count = 4;
inline constexpr size_t own_range_count = 3;
const char* name_of(RuleRange range);

// Of one call: the outputs or a state that a suite would look at.
struct WantedNumbers {
  enum class From { out, array, read_S };
  size_t call = 0;
  From from = From::out;
  std::string array;
  bool is_state = false;
  std::vector<double> value;  // NaN where nothing is asked
};

struct RuledCase {
  std::string name;
  RuleRange range = RuleRange::a;
  Case content;
  std::vector<WantedNumbers> want;
};

// Cases in the suites' own ranges, with the numbers that a float64 loop gives.
std::vector<RuledCase> own_range_cases();
// Another case, with the exact numbers that the lab of a right engine expects; nothing where no
// number is expected of it.
std::optional<RuledCase> ruled(std::string name, const Case& c, const Lab& right);

// The rules that reject what an engine gives.
RuleSet rejecting(const RuledCase& c, const Lab& lab);

}  // namespace gdn
