// The comparisons that every check shares, at their edges.
#include "invariants/harness/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace gdn {
namespace {

using testing::HasSubstr;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

Bounded want(double value, double bound, Format stored = Format::f32) {
  Bounded b;
  b.value = {value};
  b.bound = {bound};
  b.stored = stored;
  return b;
}

Verdict judge_one(float got, double value, double bound, Format stored = Format::f32) {
  const std::vector<float> one = {got};
  return within("x", one, want(value, bound, stored));
}

Outcome outcome(float got, double value, double bound, Format stored = Format::f32) {
  return judge_one(got, value, bound, stored).outcome;
}

TEST(Within, AnElementAtItsBoundHoldsAndOneBeyondItFails) {
  EXPECT_EQ(outcome(1 - 0x1p-24F, 1, 0x1p-24), Outcome::holds);
  EXPECT_EQ(judge_one(1 - 0x1p-24F, 1, 0x1p-24).worst_ratio, 1.0);
  EXPECT_EQ(outcome(1 + 0x1p-23F, 1, 0x1p-24), Outcome::fails);
  EXPECT_EQ(judge_one(1 + 0x1p-23F, 1, 0x1p-24).worst_ratio, 2.0);
}

// |1 - (-2^-60)| is more than 1, and rounds to 1 in double.
TEST(Within, DifferencesAreNotRounded) {
  EXPECT_EQ(outcome(1, -0x1p-60, 1), Outcome::fails);
  EXPECT_EQ(outcome(1, 0x1p-60, 1), Outcome::holds);
  EXPECT_EQ(outcome(-1, 0x1p-60, 1), Outcome::fails);
  EXPECT_EQ(outcome(-1, -0x1p-60, 1), Outcome::holds);
}

TEST(Within, ABoundOfZeroNeedsTheSameNumber) {
  EXPECT_EQ(outcome(0.1F, 0.1, 0), Outcome::fails);
  EXPECT_EQ(outcome(0.1F, 0.1F, 0), Outcome::holds);
  EXPECT_EQ(outcome(-0.0F, 0, 0), Outcome::holds);
  EXPECT_EQ(outcome(0x1p-149F, 0, 0), Outcome::fails);
  EXPECT_EQ(judge_one(0x1p-149F, 0, 0).worst_ratio, infinity);
  Bounded read_back = exactly(std::vector<float>{2, 3});
  EXPECT_TRUE(within("x", std::vector<float>{2, 3}, read_back).holds());
  EXPECT_FALSE(within("x", std::vector<float>{2, std::nextafter(3.0F, 4.0F)}, read_back).holds());
}

TEST(Within, SpecialElementsFollowTheRulesOfBounded) {
  EXPECT_EQ(outcome(nan, NAN, 0), Outcome::holds);
  EXPECT_EQ(outcome(inf, NAN, 0), Outcome::fails);
  EXPECT_EQ(outcome(1, NAN, 0), Outcome::fails);
  EXPECT_EQ(outcome(nan, NAN, infinity), Outcome::holds);
  EXPECT_EQ(outcome(-inf, NAN, infinity), Outcome::holds);
  EXPECT_EQ(outcome(1, NAN, infinity), Outcome::fails);
  EXPECT_EQ(outcome(inf, infinity, 0), Outcome::holds);
  EXPECT_EQ(outcome(-inf, infinity, 0), Outcome::fails);
  EXPECT_EQ(outcome(3e38F, infinity, 0), Outcome::fails);
  EXPECT_EQ(outcome(nan, -infinity, 0), Outcome::fails);
}

TEST(Within, NaNAndInfinityFailWhereANumberWasWanted) {
  EXPECT_EQ(outcome(nan, 1, 1e30), Outcome::fails);
  EXPECT_EQ(outcome(inf, 1, 1e30), Outcome::fails);
  EXPECT_EQ(outcome(-inf, -3e38, 1e38), Outcome::fails);
  EXPECT_EQ(judge_one(nan, 1, 1).worst_ratio, infinity);
}

TEST(Within, AnInfiniteOrMissingBoundIsUndecidedWhateverCame) {
  for (const float got : {1.0F, nan, inf}) {
    EXPECT_EQ(outcome(got, 1, infinity), Outcome::undecided);
    EXPECT_EQ(outcome(got, 1, NAN), Outcome::undecided);
    EXPECT_EQ(outcome(got, 1, -1), Outcome::undecided);
  }
  const Verdict v = judge_one(1, 1, infinity);
  EXPECT_EQ(v.undecided, 1U);
  EXPECT_EQ(v.elements, 1U);
  EXPECT_FALSE(v.holds());
}

TEST(Within, UlpsAreThoseOfTheWantedValue) {
  EXPECT_EQ(judge_one(1 + 0x1p-22F, 1, 1).worst_ulp, 2.0);
  EXPECT_EQ(judge_one(1, 1 - 0x1p-24, 1).worst_ulp, 1.0);
  EXPECT_EQ(judge_one(0x1p-148F, 0x1p-149, 1).worst_ulp, 1.0);
  EXPECT_EQ(judge_one(0x1p-149F, 0, 1).worst_ulp, 1.0);
  EXPECT_EQ(judge_one(-4, 4, 100).worst_ulp, 0x1p24);
}

// bf16 has 8 significant bits: 1, then 1 + 2^-7. 1 + 2^-8 is the tie, which goes to 1.
TEST(Within, ANarrowStoreMayGiveBothEndsOfItsInterval) {
  const double tie = 1 + 0x1p-8;
  EXPECT_EQ(outcome(1, tie, 0, Format::bf16), Outcome::holds);
  EXPECT_EQ(outcome(1 + 0x1p-7F, tie, 0, Format::bf16), Outcome::fails);
  EXPECT_EQ(outcome(1, tie, 0x1p-30, Format::bf16), Outcome::holds);
  EXPECT_EQ(outcome(1 + 0x1p-7F, tie, 0x1p-30, Format::bf16), Outcome::holds);
  EXPECT_EQ(outcome(1 - 0x1p-8F, tie, 0x1p-30, Format::bf16), Outcome::fails);
}

// 2^-10 from the tie, and 2^-9 allowed: half of it explains the other neighbour.
TEST(Within, TheRatioOfANarrowStoreIsTheShareOfTheBoundBeforeIt) {
  const double value = 1 + 0x1p-8 - 0x1p-10;
  EXPECT_EQ(judge_one(1, value, 0x1p-9, Format::bf16).worst_ratio, 0.0);
  EXPECT_EQ(judge_one(1 + 0x1p-7F, value, 0x1p-9, Format::bf16).worst_ratio, 0.5);
  EXPECT_EQ(outcome(1 + 0x1p-7F, value, 0x1p-11, Format::bf16), Outcome::fails);
  EXPECT_EQ(judge_one(1 + 0x1p-7F, value, 0x1p-11, Format::bf16).worst_ratio, 2.0);
  EXPECT_EQ(judge_one(-1 - 0x1p-7F, -value, 0x1p-9, Format::bf16).worst_ratio, 0.5);
}

// The largest f16 is 65504; from 65520 on it rounds to infinity.
TEST(Within, ANarrowStoreMayOverflowWhereItsIntervalDoes) {
  EXPECT_EQ(outcome(inf, 65519, 2, Format::f16), Outcome::holds);
  EXPECT_EQ(outcome(65504, 65519, 2, Format::f16), Outcome::holds);
  EXPECT_EQ(outcome(-inf, 65519, 2, Format::f16), Outcome::fails);
  EXPECT_EQ(outcome(inf, 65519, 0.5, Format::f16), Outcome::fails);
  EXPECT_EQ(outcome(nan, 65519, 2, Format::f16), Outcome::fails);
  EXPECT_EQ(outcome(65504, 65530, 2, Format::f16), Outcome::fails);
}

TEST(Within, AToleratedResultIsUndecidedAndSaysWhy) {
  Bounded b = want(2e-37, 1e-43);
  b.tolerated = {{0, -0.0F, "exp(-y) overflows"}};
  const Verdict tolerated = within("x", std::vector<float>{-0.0F}, b);
  EXPECT_EQ(tolerated.outcome, Outcome::undecided);
  EXPECT_THAT(tolerated.detail, HasSubstr("exp(-y) overflows"));
  EXPECT_EQ(within("x", std::vector<float>{1e-30F}, b).outcome, Outcome::fails);
  b.tolerated[0].index = 7;
  EXPECT_EQ(within("x", std::vector<float>{-0.0F}, b).outcome, Outcome::fails);
}

TEST(Within, AWrongCountFailsAndNothingIsNotApplicable) {
  EXPECT_EQ(within("x", std::vector<float>{1, 2}, want(1, 1)).outcome, Outcome::fails);
  EXPECT_THAT(within("x", std::vector<float>{}, want(1, 1)).detail,
              HasSubstr("0 elements, wanted 1"));
  EXPECT_EQ(within("x", std::vector<float>{}, Bounded{}).outcome, Outcome::not_applicable);
  Bounded two_bounds = want(1, 1);
  two_bounds.bound.push_back(1);
  EXPECT_EQ(within("x", std::vector<float>{1}, two_bounds).outcome, Outcome::fails);
}

TEST(Within, TheWorstElementIsNamedWithAllThatOneNeedsToSeeIt) {
  Bounded b;
  b.value = {1, 2, 4};
  b.bound = {1, 0.5, 1};
  const Verdict v = within("O", std::vector<float>{1.5F, 3, 4.25F}, b);
  EXPECT_EQ(v.outcome, Outcome::fails);
  EXPECT_EQ(v.worst_index, 1U);
  EXPECT_EQ(v.worst_ratio, 2.0);
  EXPECT_EQ(v.elements, 3U);
  // 3 is 0x40400000, 2 is 0x40000000; an ulp at 2 is 2^-22, so that 1 is 4194304 of them.
  for (const char* part : {"O[1]", "got 3 (0x40400000)", "want 2 (0x40000000)", "bound 0.5",
                           "error/bound 2", "4.19e+06 ulp", "1 of 3 elements fail"}) {
    EXPECT_THAT(v.detail, HasSubstr(part));
  }
  EXPECT_EQ(within("O", std::vector<float>{1.5F, 2, 4.25F}, b).detail, "");
}

TEST(Within, AFailureOutranksUndecidedElements) {
  Bounded b;
  b.value = {1, 2};
  b.bound = {infinity, 0};
  EXPECT_EQ(within("x", std::vector<float>{1, 2}, b).outcome, Outcome::undecided);
  const Verdict v = within("x", std::vector<float>{1, 3}, b);
  EXPECT_EQ(v.outcome, Outcome::fails);
  EXPECT_EQ(v.undecided, 1U);
}

TEST(SameBits, SignsOfZeroDifferAndNaNsDoNot) {
  EXPECT_FALSE(same_bits("x", std::vector<float>{0.0F}, std::vector<float>{-0.0F}).holds());
  EXPECT_TRUE(same_bits("x", std::vector<float>{nan}, std::vector<float>{-nan}).holds());
  EXPECT_FALSE(same_bits("x", std::vector<float>{nan}, std::vector<float>{inf}).holds());
  EXPECT_EQ(same_bits("x", std::vector<float>{1}, std::vector<float>{}).outcome, Outcome::fails);
}

TEST(SameBits, NamesTheFirstDifferenceAndCountsThem) {
  const Verdict v =
      same_bits("S", std::vector<float>{1, 2, 3, 4}, std::vector<float>{1, 2.5F, 3, 5});
  EXPECT_EQ(v.worst_index, 1U);
  EXPECT_THAT(v.detail, HasSubstr("S[1]"));
  EXPECT_THAT(v.detail, HasSubstr("2 of 4 elements differ"));
}

TEST(SameBytes, NamesTheFirstByteThatDiffers) {
  EXPECT_TRUE(same_bytes("b", std::vector<uint8_t>{1, 2}, std::vector<uint8_t>{1, 2}).holds());
  const Verdict v = same_bytes("b", std::vector<uint8_t>{1, 18}, std::vector<uint8_t>{1, 2});
  EXPECT_EQ(v.outcome, Outcome::fails);
  EXPECT_THAT(v.detail, HasSubstr("b[1]: got byte 0x12, want 0x02"));
}

TEST(Both, IsTheWorseOfTwoAndAddsCounts) {
  const Verdict holds = judge_one(1, 1, 1);
  const Verdict fails = judge_one(3, 1, 1);
  const Verdict undecided = judge_one(1, 1, infinity);
  EXPECT_EQ(both(holds, fails).outcome, Outcome::fails);
  EXPECT_EQ(both(fails, holds).detail, fails.detail);
  EXPECT_EQ(both(holds, undecided).outcome, Outcome::undecided);
  EXPECT_EQ(both(undecided, fails).outcome, Outcome::fails);
  EXPECT_EQ(both(holds, Verdict{}).outcome, Outcome::not_applicable);
  const Verdict three = both(holds, undecided, fails);
  EXPECT_EQ(three.elements, 3U);
  EXPECT_EQ(three.undecided, 1U);
  EXPECT_EQ(three.worst_ratio, 2.0);
}

TEST(Claims, HoldOrFailWithTheirDetail) {
  EXPECT_TRUE(claim(true, "unused").holds());
  EXPECT_EQ(claim(true, "unused").detail, "");
  EXPECT_EQ(claim(false, "the pool is full").outcome, Outcome::fails);
  EXPECT_EQ(claim(false, "the pool is full").detail, "the pool is full");
}

}  // namespace
}  // namespace gdn
