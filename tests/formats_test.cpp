// f16 and bf16: all patterns against the definition of their fields, and rounding to nearest even.
#include "reference/formats.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace gdn {
namespace {

uint32_t bits_of(float value) { return std::bit_cast<uint32_t>(value); }

// The value of a 16-bit pattern by the definition of its fields; nothing shared with the decoder.
double by_definition(unsigned bits, int fraction_bits, int bias) {
  const int exponent_all_ones = 2 * bias + 1;
  const unsigned fraction = bits % (1U << fraction_bits);
  const int exponent = static_cast<int>(bits % 0x8000 / (1U << fraction_bits));
  const double sign = bits >= 0x8000 ? -1.0 : 1.0;
  if (exponent == exponent_all_ones) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(double(fraction), 1 - bias - fraction_bits);
  return sign *
         std::ldexp(double((1U << fraction_bits) + fraction), exponent - bias - fraction_bits);
}

void expect_all_patterns(float (*decode)(uint16_t), int fraction_bits, int bias) {
  int nan_count = 0;
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const double want = by_definition(bits, fraction_bits, bias);
    const float got = decode(static_cast<uint16_t>(bits));
    if (std::isnan(want)) {
      ++nan_count;
      // Sign and payload, moved up into the float's fraction.
      const uint32_t fraction = bits % (1U << fraction_bits) << (23 - fraction_bits);
      ASSERT_EQ(bits_of(got), (bits >= 0x8000 ? 0x80000000U : 0U) | 0x7F800000U | fraction);
      continue;
    }
    ASSERT_EQ(static_cast<double>(got), want) << std::hex << bits;
    ASSERT_EQ(std::signbit(got), bits >= 0x8000) << std::hex << bits;
  }
  EXPECT_EQ(nan_count, 2 * ((1 << fraction_bits) - 1));
}

TEST(Decoding, EveryF16PatternHasTheValueOfItsFields) { expect_all_patterns(f16_decode, 10, 15); }

TEST(Decoding, EveryBf16PatternHasTheValueOfItsFields) { expect_all_patterns(bf16_decode, 7, 127); }

TEST(Decoding, F16LiteralsAreThoseOfTheStandard) {
  EXPECT_EQ(f16_decode(0x3C00), 1.0F);
  EXPECT_EQ(f16_decode(0xC000), -2.0F);
  EXPECT_EQ(f16_decode(0x7BFF), 65504.0F);
  EXPECT_EQ(f16_decode(0x0400), 0x1p-14F);
  EXPECT_EQ(f16_decode(0x03FF), 1023 * 0x1p-24F);
  EXPECT_EQ(f16_decode(0x0001), 0x1p-24F);
  EXPECT_EQ(bits_of(f16_decode(0x8000)), 0x80000000U);
}

TEST(Encoding, GivesBackEveryDecodedPatternAndQuietsNan) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto pattern = static_cast<uint16_t>(bits);
    const bool f16_nan = std::isnan(f16_decode(pattern));
    const bool bf16_nan = std::isnan(bf16_decode(pattern));
    ASSERT_EQ(f16_encode(f16_decode(pattern)), f16_nan ? pattern | 0x0200 : pattern);
    ASSERT_EQ(bf16_encode(bf16_decode(pattern)), bf16_nan ? pattern | 0x0040 : pattern);
  }
}

TEST(Encoding, KeepsSignAndTopPayloadBitsOfNan) {
  EXPECT_EQ(f16_encode(std::bit_cast<float>(0x7FC12345U)), 0x7E09);
  EXPECT_EQ(f16_encode(std::bit_cast<float>(0xFFC00000U)), 0xFE00);
  EXPECT_EQ(bf16_encode(std::bit_cast<float>(0x7FC12345U)), 0x7FC1);
}

// Between each two neighbours: the midpoint goes to the even one, a nudge to the nearer one.
void expect_nearest_even(uint16_t (*encode)(double), float (*decode)(uint16_t),
                         uint16_t infinity_bits) {
  for (unsigned bits = 0; bits + 1 < infinity_bits; ++bits) {
    const auto low = static_cast<uint16_t>(bits);
    const auto high = static_cast<uint16_t>(bits + 1);
    const double middle = (double(decode(low)) + double(decode(high))) / 2;
    const uint16_t even = bits % 2 == 0 ? low : high;
    ASSERT_EQ(encode(middle), even) << std::hex << bits;
    ASSERT_EQ(encode(-middle), even | 0x8000) << std::hex << bits;
    ASSERT_EQ(encode(std::nextafter(middle, 0.0)), low) << std::hex << bits;
    ASSERT_EQ(encode(std::nextafter(middle, 1e300)), high) << std::hex << bits;
  }
}

TEST(Encoding, RoundsToNearestEvenBetweenAllNeighboursOfF16) {
  expect_nearest_even(f16_encode, f16_decode, 0x7C00);
}

TEST(Encoding, RoundsToNearestEvenBetweenAllNeighboursOfBf16) {
  expect_nearest_even(bf16_encode, bf16_decode, 0x7F80);
}

TEST(Encoding, OverflowsFromTheMidpointBeyondTheLargestOn) {
  EXPECT_EQ(f16_encode(65519.999), 0x7BFF);
  EXPECT_EQ(f16_encode(65520.0), 0x7C00);
  EXPECT_EQ(f16_encode(-1e300), 0xFC00);
  // bf16: the largest is 0x1.FEp127, half a unit above it 0x1.FFp127.
  EXPECT_EQ(bf16_encode(std::nextafter(0x1.FFp127, 0.0)), 0x7F7F);
  EXPECT_EQ(bf16_encode(0x1.FFp127), 0x7F80);
}

TEST(Encoding, UnderflowsToASignedZeroAtHalfTheSmallest) {
  EXPECT_EQ(f16_encode(0x1p-25), 0x0000);
  EXPECT_EQ(f16_encode(0x1.000002p-25), 0x0001);
  EXPECT_EQ(f16_encode(-0x1p-25), 0x8000);
  EXPECT_EQ(bf16_encode(0x1p-134), 0x0000);
  EXPECT_EQ(bf16_encode(-5e-324), 0x8000);
}

TEST(Encoding, FromDoubleRoundsOnceAndNotByWayOfFloat) {
  // Just above the midpoint of 1 and the next f16, by less than float32 resolves: a detour through
  // float32 gives the midpoint, and then 1 by ties to even.
  const double f16_above = 1 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(f16_encode(f16_above), 0x3C01);
  EXPECT_EQ(f16_encode(static_cast<float>(f16_above)), 0x3C00);
  const double bf16_above = 1 + 0x1p-8 + 0x1p-40;
  EXPECT_EQ(bf16_encode(bf16_above), 0x3F81);
  EXPECT_EQ(bf16_encode(static_cast<float>(bf16_above)), 0x3F80);
}

TEST(Encoding, RoundToGivesTheNearestNumberOfEachFormat) {
  EXPECT_EQ(round_to(Format::f32, 1 + 0x1p-25), 1.0);
  EXPECT_EQ(round_to(Format::f16, 1 + 0x1p-11 + 0x1p-40), 1 + 0x1p-10);
  EXPECT_EQ(round_to(Format::bf16, 1 + 0x1p-8 + 0x1p-40), 1 + 0x1p-7);
}

}  // namespace
}  // namespace gdn
