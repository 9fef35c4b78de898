// The acceptance rules of public test suites: what they call close enough, over the outputs and
// states of one run, without a bound. docs/public-rules.md says what each is.
#pragma once

#include <bitset>
#include <cstddef>
#include <span>
#include <vector>

namespace gdn {

struct PublicRule {
  enum class Kind : unsigned char {
    nmse,       // sum of squared errors / sum of squares, all in one
    rms_ratio,  // the root of the same, outputs and states apart
    allclose,   // |error| <= t + t |want|, each element
    max_rel,    // largest |error| / largest |want|, outputs and states apart
  };
  Kind kind;
  double threshold;  // those suites' own
  const char* name;
  char letter;       // in tables
  const char* what;  // what it accepts
};

inline constexpr size_t public_rule_count = 7;
std::span<const PublicRule, public_rule_count> public_rules();

// Rules by their place in public_rules().
using RuleSet = std::bitset<public_rule_count>;

// Numbers that a suite compares as one: all outputs of a run, or all its states.
struct Compared {
  std::vector<float> got;
  std::vector<double> want;  // NaN where nothing is asked of the element
};

// The rules that reject a run. What should be there and is not is rejected by all of them, and so
// is a number that is not finite where a finite one is wanted.
RuleSet rejecting(const std::vector<Compared>& run);

}  // namespace gdn
