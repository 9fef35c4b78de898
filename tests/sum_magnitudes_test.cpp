// Sizes of partial sums and the bounds from them, worked out by hand on small integers.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "reference/partial_sums.h"

namespace gdn {
namespace {

using Stage = Reduction::Stage;
using Kind = Reduction::Kind;

Reduction in_order(std::vector<Stage> stages) {
  return {.kind = Kind::order, .stages = std::move(stages)};
}

Reduction of_depth(int64_t depth) {
  return {.kind = Kind::depth, .depth_a = static_cast<double>(depth), .stages = {}};
}

// The largest positive terms first, one after the other, have exactly the promised partial sums.
TEST(SumMagnitudes, OfAnyOrderAreAttainedByAddingFromTheLargestDown) {
  const std::vector<double> terms{8, 4, 2, 1};
  // 12 + 14 + 15, in whatever order the terms come.
  EXPECT_NEAR(sum_magnitudes({}, terms).partial_sums, 41, 1e-9);
  EXPECT_NEAR(sum_magnitudes({}, std::vector<double>{1, 8, 2, 4}).partial_sums, 41, 1e-9);
  // Signs: of two terms -9 at most, as (-5) + (-4); of all three -6.
  EXPECT_NEAR(sum_magnitudes({}, std::vector<double>{3, -5, -4}).partial_sums, 9 + 6, 1e-9);
  // Two pairs, (1 + 1) and (-1 - 1), beat any chain: 2 + 2 + 0 over 2 + 1 + 0.
  EXPECT_NEAR(sum_magnitudes({}, std::vector<double>{1, -1, 1, -1}).partial_sums, 4, 1e-9);
}

// Of 12, 14 and 15 each errs by u times 8 at most; of sums known to within a little, 16 - 2^-20 may
// be rounded as 16.
TEST(SumMagnitudes, RoundingsAreThePowersOfTwoBelowThePartialSums) {
  const std::vector<float> terms{8, 4, 2, 1};
  const std::vector<double> ones(4, 1.0);
  std::vector<SumMagnitudes> row(1);
  sum_magnitudes({}, terms.data(), 1, 4, ones, row);
  EXPECT_NEAR(row[0].roundings, 24, 1e-9);
  const std::vector<float> edge{15, 1 - 0x1p-20F};
  sum_magnitudes({}, edge.data(), 1, 2, std::vector<double>(2, 1.0), row);
  EXPECT_NEAR(row[0].roundings, 16, 1e-9);
  // Moved terms have other binades, and terms alone do not say that they stay where they are.
  EXPECT_EQ(sum_magnitudes({}, std::vector<double>{8, 4, 2, 1}).roundings, infinity);
}

TEST(SumMagnitudes, OfADepthAreAtMostTheDepthTimesTheSumOfMagnitudes) {
  const std::vector<double> ones(128, 1.0);
  EXPECT_NEAR(sum_magnitudes(of_depth(7), ones).partial_sums, 7 * 128, 1e-6);
}

TEST(SumMagnitudes, OfADeclaredOrderAreThePartialSumsByHand) {
  using S = Stage::Kind;
  const std::vector<double> terms{1, -2, 4, -8, 16};
  // Serial: -1, 3, -5, 11. Fused counts the first product, 1, as well.
  EXPECT_NEAR(sum_magnitudes(in_order({{S::serial, 0, false}}), terms).partial_sums, 20, 1e-9);
  EXPECT_NEAR(sum_magnitudes(in_order({{S::serial, 0, true}}), terms).partial_sums, 21, 1e-9);
  // Adjacent: -1, -4 | -5 | 11.
  EXPECT_NEAR(sum_magnitudes(in_order({{S::tree_adjacent, 0, false}}), terms).partial_sums, 21,
              1e-9);
  // Halves, 5 -> 3: 1 - 8 = -7, -2 + 16 = 14, 4 | 3 -> 2: -7 + 4 = -3, 14 | 11.
  EXPECT_NEAR(sum_magnitudes(in_order({{S::tree_halves, 0, false}}), terms).partial_sums, 35, 1e-9);
  // Stride 2: 5, 21 and -10 | then 11.
  EXPECT_NEAR(
      sum_magnitudes(in_order({{S::stride, 2, false}, {S::serial, 0, false}}), terms).partial_sums,
      5 + 21 + 10 + 11, 1e-9);
  // Block 2: -1 and -4, 16 alone | then -5, 11.
  EXPECT_NEAR(
      sum_magnitudes(in_order({{S::block, 2, false}, {S::serial, 0, false}}), terms).partial_sums,
      1 + 4 + 5 + 11, 1e-9);
}

TEST(DotError, OfNothingIsZeroAndOfOneTermItsProductsRounding) {
  EXPECT_EQ(dot_error(Reduction{}, std::vector<double>{}), 0);
  const double one = dot_error(Reduction{}, std::vector<double>{3.0});
  EXPECT_GE(one, 3 * unit_roundoff);
  EXPECT_LE(one, 3 * unit_roundoff * (1 + 1e-6));
  // Zero terms: only underflow is left.
  EXPECT_LE(dot_error(Reduction{}, std::vector<double>(4, 0.0)), 5 * underflow_unit);
}

TEST(DotError, IsInfiniteWhereASumMayOverflowOrATermIsNoNumber) {
  EXPECT_EQ(dot_error(Reduction{}, std::vector<double>{0x1p127, -0x1p127}), infinity);
  EXPECT_LT(dot_error(Reduction{}, std::vector<double>{0x1p126, -0x1p126}), infinity);
  EXPECT_EQ(dot_error(Reduction{}, std::vector<double>{infinity, 1}), infinity);
  EXPECT_EQ(dot_error(Reduction{}, std::vector<double>{std::nan(""), 1}), infinity);
}

}  // namespace
}  // namespace gdn
