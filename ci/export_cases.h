// Cases as arrays with what they must give: the format gdn-cases-1 of docs/formats.md.
#pragma once

#include <string>
#include <vector>

#include "invariants/harness/lab.h"
#include "reference/case.h"

namespace gdn {

// Why a case cannot be exported, or an empty string.
std::string why_not_exported(const Case& c);

// What a reader checks as |got - value| <= bound in float64, and no sound engine's number fails:
// rounding is monotonic and the bound is a float64 itself, so that a difference of at most the
// bound is not rounded beyond it.
struct Checkable {
  double value = 0, bound = 0;
};
// An element as it is checked. What is stored in bf16 or f16 has as its value the middle of the
// numbers that are right, as its bound half their distance; an element with a tolerated result is
// undecided: its bound is infinite.
Checkable checkable(const Bounded& want, size_t index);

// One file's content. The expectations are those of the Lab.
std::string exported(const std::vector<Case>& cases, const Lab& lab);

}  // namespace gdn
