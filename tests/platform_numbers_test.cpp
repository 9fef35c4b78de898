// The numeric functions that kernels call, as the simulator has them, against values by hand and
// against arithmetic in double, which holds every f16 and bf16 number and midpoint exactly.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/platform_kernels.cuh"
#include "tests/platform_outputs.h"

namespace gdn {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

// A number of `bits` by its definition: 5 and 10, or 8 and 7 bits of exponent and significand.
double value_of(uint32_t bits, int exponent_bits) {
  const int significand_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>(bits >> significand_bits) & ((1 << exponent_bits) - 1);
  const double significand = bits & ((1U << significand_bits) - 1);
  const double one = 1 << significand_bits;
  const double magnitude = exponent == 0 ? std::ldexp(significand / one, 1 - bias)
                                         : std::ldexp(1 + significand / one, exponent - bias);
  return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

TEST(PlatformNumbers, EveryHalfWidensExactly) {
  for (uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const float got = half_to_float(static_cast<uint16_t>(bits));
    const uint32_t magnitude = bits & 0x7fffU;
    if (magnitude > 0x7c00U) {
      EXPECT_EQ(float_bits(got), 0x7fffffffU) << bits;
    } else if (magnitude == 0x7c00U) {
      EXPECT_EQ(got, bits == 0x7c00U ? inf : -inf);
    } else {
      EXPECT_EQ(static_cast<double>(got), value_of(bits, 5)) << bits;
      EXPECT_EQ(std::signbit(got), (bits & 0x8000U) != 0) << bits;
    }
  }
}

TEST(PlatformNumbers, EveryBfloat16WidensExactly) {
  for (uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const float got = bfloat16_to_float(static_cast<uint16_t>(bits));
    const uint32_t magnitude = bits & 0x7fffU;
    if (magnitude > 0x7f80U) {
      EXPECT_EQ(float_bits(got), 0x7fffffffU) << bits;
    } else if (magnitude == 0x7f80U) {
      EXPECT_EQ(got, bits == 0x7f80U ? inf : -inf);
    } else {
      EXPECT_EQ(static_cast<double>(got), value_of(bits, 8)) << bits;
    }
  }
}

// Around every number: itself, the midpoint to the next one (to the even of the two), and the
// float32 numbers on both sides of the midpoint. Beyond the largest, the next would be 2^k.
void expect_rounds_to_nearest_even(uint16_t (*narrow)(float), int exponent_bits) {
  const uint32_t infinity_bits = exponent_bits == 5 ? 0x7c00U : 0x7f80U;
  for (uint32_t bits = 0; bits < infinity_bits; ++bits) {
    const double here = value_of(bits, exponent_bits);
    const double next = value_of(bits + 1, exponent_bits);
    const auto middle = static_cast<float>((here + next) / 2);
    const uint32_t even = bits % 2 == 0 ? bits : bits + 1;
    for (const uint32_t sign : {0U, 0x8000U}) {
      const float by = sign != 0 ? -1.0F : 1.0F;
      ASSERT_EQ(narrow(by * static_cast<float>(here)), sign | bits);
      ASSERT_EQ(narrow(by * middle), sign | even) << middle;
      ASSERT_EQ(narrow(by * std::nextafter(middle, 0.0F)), sign | bits) << middle;
      ASSERT_EQ(narrow(by * std::nextafter(middle, inf)), sign | (bits + 1)) << middle;
    }
  }
  EXPECT_EQ(narrow(inf), infinity_bits);
  EXPECT_EQ(narrow(-inf), infinity_bits | 0x8000U);
  EXPECT_EQ(narrow(std::numeric_limits<float>::max()), infinity_bits);
  EXPECT_EQ(narrow(nan), 0x7fffU);
  EXPECT_EQ(narrow(-nan), 0x7fffU);
  EXPECT_EQ(narrow(bits_float(0x7f800001U)), 0x7fffU);
}

TEST(PlatformNumbers, NarrowingToHalfRoundsToNearestEven) {
  expect_rounds_to_nearest_even([](float x) { return float_to_half(x); }, 5);
  EXPECT_EQ(float_to_half(65519.996F), 0x7bff);
  EXPECT_EQ(float_to_half(65520.0F), 0x7c00);
}

TEST(PlatformNumbers, NarrowingToBfloat16RoundsToNearestEven) {
  expect_rounds_to_nearest_even([](float x) { return float_to_bfloat16(x); }, 8);
}

TEST(PlatformNumbers, IntegersComeFromAnyFloat) {
  constexpr int32_t lowest = std::numeric_limits<int32_t>::min();
  constexpr int32_t highest = std::numeric_limits<int32_t>::max();
  EXPECT_EQ(to_int_toward_zero(2.9F), 2);
  EXPECT_EQ(to_int_toward_zero(-2.9F), -2);
  EXPECT_EQ(to_int_nearest_even(2.5F), 2);
  EXPECT_EQ(to_int_nearest_even(3.5F), 4);
  EXPECT_EQ(to_int_nearest_even(-2.5F), -2);
  EXPECT_EQ(round_half_away(2.5F), 3.0F);
  EXPECT_EQ(round_half_away(-2.5F), -3.0F);
  EXPECT_EQ(round_half_away(0.49999997F), 0.0F);  // adding a half first would give 1
  for (const auto convert : {to_int_toward_zero, to_int_nearest_even}) {
    EXPECT_EQ(convert(nan), 0);
    EXPECT_EQ(convert(inf), highest);
    EXPECT_EQ(convert(-inf), lowest);
    EXPECT_EQ(convert(0x1p31F), highest);
    EXPECT_EQ(convert(2147483520.0F), 2147483520);
    EXPECT_EQ(convert(-0x1p31F), lowest);
    EXPECT_EQ(convert(-2147483904.0F), lowest);
  }
}

TEST(PlatformNumbers, MinAndMaxPreferNumbersAndOrderZeros) {
  EXPECT_EQ(min(1.0F, nan), 1.0F);
  EXPECT_EQ(min(nan, 1.0F), 1.0F);
  EXPECT_EQ(max(1.0F, nan), 1.0F);
  EXPECT_EQ(max(nan, 1.0F), 1.0F);
  EXPECT_TRUE(std::isnan(min(nan, nan)));
  EXPECT_TRUE(std::isnan(max(nan, nan)));
  EXPECT_TRUE(std::signbit(min(0.0F, -0.0F)));
  EXPECT_TRUE(std::signbit(min(-0.0F, 0.0F)));
  EXPECT_FALSE(std::signbit(max(0.0F, -0.0F)));
  EXPECT_FALSE(std::signbit(max(-0.0F, 0.0F)));
  EXPECT_EQ(min(-inf, 3.0F), -inf);
  EXPECT_EQ(max(-2.0F, 3.0F), 3.0F);
  EXPECT_EQ(min(-2, 3), -2);
  EXPECT_EQ(max(int64_t{1} << 40, int64_t{7}), int64_t{1} << 40);
}

TEST(PlatformNumbers, AbsoluteClearsTheSign) {
  EXPECT_EQ(absolute(-2.0F), 2.0F);
  EXPECT_EQ(float_bits(absolute(-0.0F)), 0U);
  EXPECT_EQ(float_bits(absolute(bits_float(0xffc00000U))), 0x7fc00000U);
}

TEST(PlatformNumbers, FourProductsOfBytesAreSummedAndWrapAround) {
  // Bytes, low first: (1, -2, 3, -128) . (5, 6, -7, -128) = 5 - 12 - 21 + 16384.
  EXPECT_EQ(dp4a(static_cast<int32_t>(0x8003fe01U), static_cast<int32_t>(0x80f90605U), 0), 16356);
  EXPECT_EQ(dp4a(1, 1, std::numeric_limits<int32_t>::max()), std::numeric_limits<int32_t>::min());
}

TEST(PlatformNumbers, BytesAreChosenFromTheLowestOn) {
  EXPECT_EQ(permute_bytes(0x33221100U, 0x77665544U, 0x7410U), 0x77441100U);
  EXPECT_EQ(permute_bytes(0x33221100U, 0x77665544U, 0x3333U), 0x33333333U);
}

TEST(PlatformNumbers, MultiplyAddIsFusedOnlyWhereWritten) {
  // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24, of which the product alone keeps 1 + 2^-11.
  volatile float factor = 1 + 0x1p-12F;
  volatile float minus = -(1 + 0x1p-11F);
  const float x = factor;
  const float y = minus;
  EXPECT_EQ(fused_multiply_add(x, x, y), 0x1p-24F);
  EXPECT_EQ(x * x + y, 0.0F);
}

TEST(PlatformNumbers, TheKernelOverAllPatternsGivesTheFunctions) {
  const std::vector<uint32_t> patterns = platform_patterns();
  const std::vector<uint32_t> outputs = outputs_on_simulator(patterns);
  ASSERT_EQ(outputs.size(), patterns.size() * numbers_per_input + patterns.size() / 128);
  for (size_t i = 0; i < 0x10000; ++i) {
    ASSERT_EQ(outputs[i * numbers_per_input],
              float_bits(half_to_float(static_cast<uint16_t>(patterns[i]))));
  }
}

void adds_up(const Numbers& p) {
  float value = bits_float(p.bits[lane()]);
  p.out[lane()] = float_bits(warp_tree_sum(value));
  for (int distance = 1; distance < warp_size; distance *= 2) {
    value += shuffle_xor(full_mask, value, distance);
  }
  p.out[32 + lane()] = float_bits(value);
}

TEST(PlatformNumbers, ATreeSumIsThatOfShufflesBitForBit) {
  simt::Machine machine;
  std::vector<uint32_t> bits(32), out(64);
  uint32_t state = 3;
  for (uint32_t& one : bits) {
    state = state * 1664525U + 1013904223U;
    one = (state & 0x87ffffffU) + 0x38000000U;
  }
  auto* const in = static_cast<uint32_t*>(machine.allocate(128));
  auto* const result = static_cast<uint32_t*>(machine.allocate(256));
  ASSERT_FALSE(machine.write(in, bits.data(), 128));
  ASSERT_FALSE(launch<adds_up>(machine, {.threads = 32}, {{in}, {result}, 32}));
  ASSERT_FALSE(machine.read(out.data(), result, 256));
  for (size_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], out[32 + i]) << "lane " << i;
}

struct Operands {
  global<const uint32_t> left;   // [16][8] words of four signed bytes
  global<const uint32_t> right;  // [8][8], column by column
  global<int32_t> y;             // [16][8]
};

// Lane 4 r + c: see matrix_product_s8.
void multiplies(const Operands& p) {
  const int r = lane() / 4;
  const int c = lane() % 4;
  const Pack<int32_t, 4> products =
      matrix_product_s8({p.left[8 * r + c], p.left[8 * (r + 8) + c], p.left[8 * r + c + 4],
                         p.left[8 * (r + 8) + c + 4]},
                        {p.right[8 * r + c], p.right[8 * r + c + 4]});
  for (int i = 0; i < 4; ++i) p.y[8 * (r + i / 2 * 8) + 2 * c + i % 2] = products[i];
}

TEST(PlatformNumbers, MatrixProductIsTheSumOfProductsOfSignedBytes) {
  uint32_t state = 7;
  const auto words = [&](size_t count) {
    std::vector<uint32_t> drawn(count);
    for (uint32_t& word : drawn) word = state = state * 1664525U + 1013904223U;
    return drawn;
  };
  std::vector<uint32_t> left = words(16 * 8), right = words(8 * 8);
  left[0] = right[0] = 0x80808080U;  // of the largest magnitude
  simt::Machine machine;
  const auto put = [&](const std::vector<uint32_t>& values) {
    auto* const at = static_cast<uint32_t*>(machine.allocate(4 * values.size()));
    EXPECT_FALSE(machine.write(at, values.data(), 4 * values.size()));
    return at;
  };
  std::vector<int32_t> y(16 * 8);
  auto* const result = static_cast<int32_t*>(machine.allocate(4 * y.size()));
  ASSERT_FALSE(launch<multiplies>(machine, {.threads = 32}, {{put(left)}, {put(right)}, {result}}));
  ASSERT_FALSE(machine.read(y.data(), result, 4 * y.size()));
  const auto byte = [](const std::vector<uint32_t>& from, size_t row, size_t i) {
    return static_cast<int32_t>(static_cast<int8_t>(from[8 * row + i / 4] >> (8 * (i % 4))));
  };
  for (size_t row = 0; row < 16; ++row) {
    for (size_t column = 0; column < 8; ++column) {
      int32_t want = 0;
      for (size_t i = 0; i < 32; ++i) want += byte(left, row, i) * byte(right, column, i);
      EXPECT_EQ(y[8 * row + column], want) << row << ", " << column;
    }
  }
}

}  // namespace
}  // namespace gdn
