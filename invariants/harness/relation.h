// Two runs whose cases are related: how far apart their results may lie, and which numbers leave
// arithmetic room to be scaled by a power of two.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "invariants/harness/observation.h"
#include "invariants/harness/verdict.h"
#include "reference/bound.h"
#include "reference/case.h"
#include "reference/contract.h"
#include "reference/rng.h"

namespace gdn {

// What an engine gave, and what it should have given.
struct Judged {
  std::span<const float> got;
  Bounded want;
};

// One result is the sum of the others, as its exact value is that of theirs: within the sum of all
// bounds. Elements that the reference does not know as a number, of either, are left out.
Verdict agree(std::string_view what, const Judged& one, const std::vector<Judged>& terms);

// Of two layers whose parts stand in different orders, after equal tokens: element i of a tensor of
// `other` is element order[i] of `one`. Equal bits where `bits`, else within the sum of both
// bounds.
Verdict agree_in_order(std::string_view what, const Judged& other, const Judged& one,
                       const std::vector<int64_t>& order, bool bits);

// Why an invariant says nothing of a case.
Verdict not_applicable(std::string why);
// What was judged; not_applicable where that was no element.
Verdict unless_empty(Verdict judged);

// Does the engine declare the exact order of these sums? Then an element has the same bits wherever
// it stands: docs/engine-description.md.
bool in_declared_order(std::initializer_list<const Reduction*> sums);

// Where numbers lie: each is a multiple of 2^lowest and at most 2^highest in magnitude. Rounding to
// nearest keeps both, so that products and sums of extents hold for computed ones in any order,
// fused or not; a sum is given one bit more for its roundings.
struct Extent {
  bool zero = true;  // nothing but zeros; the others then mean nothing
  bool finite = true;
  int lowest = 0;
  int highest = 0;
};
Extent extent_of(std::span<const float> numbers);
// Of float32 numbers that an engine computes to within a factor of two of these.
Extent extent_near(double value);
Extent either(const Extent& one, const Extent& other);
Extent product(const Extent& one, const Extent& other);
Extent sum(const Extent& one, const Extent& other);
Extent sum_of(const Extent& terms, int64_t count);
// Are all of them, and all of them times 2^power, zero or normal float32 numbers? Then rounding
// them and scaling them commute.
bool scales(const Extent& extent, int power);

// Times 2^power; exact where the extent scales.
std::vector<float> times_power(std::vector<float> numbers, int power);
// -0 becomes 0: where the sign of a zero is not part of the claim.
std::vector<float> without_zero_signs(std::vector<float> numbers);
// Row i of the result is row order[i].
std::vector<float> rows_in_order(std::span<const float> rows, int64_t width,
                                 const std::vector<int64_t>& order);
// Column i of every row of the result is column order[i].
std::vector<float> columns_in_order(const std::vector<float>& matrix,
                                    const std::vector<int64_t>& order);
// 0 to count - 1, shifted by a number from 1 on that is drawn: none stays, and no two change
// places.
std::vector<int64_t> shifted_order(int64_t count, Rng rng);
// Element i of the result is element order[i].
Bounded in_order(const Bounded& want, const std::vector<int64_t>& order);

// A case of delta_rule, or of recurrent cut to at most `tokens_max` tokens that come in a call
// each, with all its arrays given in full; q and k go in as they are. Nothing: *why says why.
std::optional<Case> recurrence_in_full(const Case& c, int64_t tokens_max, std::string* why);
// An array that a case gives in full.
std::vector<float> array_of(const Case& c, const std::string& name);

// Set-up, then the first `tokens` tokens through step of layer 0; `reads` after the last.
std::vector<Call> fed_calls(const Case& c, int64_t tokens, const std::set<Tensor>& reads);

}  // namespace gdn
