// How large the partial sums of given terms can be, and their roundings, in a tree of any form over
// them in any order. The derivation stands in any_tree.cpp.
#pragma once

#include <cstddef>
#include <span>

namespace gdn {

// Above this many terms, a bound that grows with their square costs more than it is worth.
inline constexpr size_t terms_in_trees_max = 512;

inline constexpr double double_roundoff = 0x1p-53;

// A sum of `count` non-negative doubles, made into an upper bound of the exact one: its relative
// error is at most gamma of double, below 2 count 2^-53 for count < 2^51.
inline double rounded_up(double sum, double count) {
  return sum * (1 + 2 * (count + 2) * double_roundoff);
}

struct OfAnyTree {
  double partial_sums = 0;
  double roundings = 0;  // the same with the power of two at or below each
};

// Of at most terms_in_trees_max terms; `off` is how far any a^_k + b^_k can lie from its p_k.
OfAnyTree of_any_tree(std::span<const double> terms, double off);

}  // namespace gdn
