// Two dialects and a case that tells them apart: some output of it has no number that is right for
// both, whatever sound float32 engine computes it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "invariants/harness/lab.h"
#include "reference/case.h"
#include "reference/dialect.h"

namespace gdn {

// What one dialect expects of an element; of the array `status`, of the call.
struct ExpectedElement {
  enum class Is : uint8_t { number, untouched, served, refused };
  double value = 0, bound = 0;
  Format stored = Format::f32;
  Is is = Is::number;
};

// A case under one dialect; under the other it is the same text but for the line `dialect`.
struct ToldApart {
  Case c;
  std::string array;
  size_t index = 0;  // of the array as it lies in memory
  ExpectedElement one, other;
};

// What is expected of a sound engine of float32 arithmetic of any order.
Lab lab_of_any_order();

// Is there no number that both accept?
bool exclude_each_other(const ExpectedElement& one, const ExpectedElement& other);

// The first element of a case that tells them apart. States are compared as they lie in their
// slots, so that a layout shows.
std::optional<ToldApart> told_apart(const Case& c, const Dialect& one, const Dialect& other,
                                    const Lab& lab);
// The operators whose outputs a dialect can change.
std::span<const Subject> told_subjects();
// The smallest of a subject that the search finds: the fewest numbers, then the shortest text.
std::optional<ToldApart> smallest_case(Subject subject, const Dialect& one, const Dialect& other,
                                       const Lab& lab);

// Dimensions in which they differ.
std::vector<std::string> differences(const Dialect& one, const Dialect& other);
// Why no output of a case depends on which of two values a dimension has; empty where one does.
std::string_view why_equal_numbers(std::string_view dimension, std::string_view one,
                                   std::string_view other);

// The plain form log(1 + exp x) is 0 where exp x is lost in 1 + exp x: a case whose decay, computed
// so in float32, is right under log_one_plus_exp and wrong under log1p_thresholds. Nothing if the
// reference does not say so.
std::optional<ToldApart> softplus_case(const Lab& lab);

}  // namespace gdn
