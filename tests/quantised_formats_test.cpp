// q4_0 blocks, q4_tile matrices and q8_0 activations against hand-worked literals. The f16 scales
// are decoded by f16_decode, which formats_test checks by itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "reference/formats.h"

namespace gdn {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

constexpr float float_infinity = std::numeric_limits<float>::infinity();
constexpr float float_nan = std::numeric_limits<float>::quiet_NaN();

uint32_t bits_of(float value) { return std::bit_cast<uint32_t>(value); }

using Block = std::array<uint8_t, q4_block_bytes>;
using Weights = std::array<float, q4_block_weights>;

Weights decode(const Block& block) {
  Weights weights;
  q4_0_decode_block(block.data(), weights.data());
  return weights;
}

Block block_of(uint16_t scale_bits, const std::array<uint8_t, 16>& codes) {
  Block block;
  block[0] = static_cast<uint8_t>(scale_bits & 0xFF);
  block[1] = static_cast<uint8_t>(scale_bits >> 8);
  std::copy(codes.begin(), codes.end(), block.begin() + 2);
  return block;
}

std::array<uint8_t, 16> same_code(int code) {
  std::array<uint8_t, 16> codes;
  codes.fill(static_cast<uint8_t>(code | code << 4));
  return codes;
}

TEST(Q4Block, LowNibblesAreTheFirstSixteenWeightsAndHighNibblesTheLast) {
  std::array<uint8_t, 16> codes;
  for (int j = 0; j < 16; ++j) codes[j] = static_cast<uint8_t>(j | (15 - j) << 4);
  const Weights weights = decode(block_of(0x3C00, codes));
  for (int j = 0; j < 16; ++j) {
    EXPECT_EQ(weights[j], float(j - 8));       // -8 ... 7
    EXPECT_EQ(weights[16 + j], float(7 - j));  // 7 ... -8
  }
}

TEST(Q4Block, ASubnormalScaleIsNotFlushed) {
  const Weights weights = decode(block_of(0x0001, same_code(1)));
  EXPECT_EQ(weights[0] * 0x1p24F, -7.0F);
}

TEST(Q4Block, EveryScaleTimesEveryCodeIsIeee) {
  for (unsigned scale = 0; scale < 0x10000; ++scale) {
    std::array<uint8_t, 16> codes;
    for (int j = 0; j < 16; ++j) codes[j] = static_cast<uint8_t>(j | j << 4);
    const Weights weights = decode(block_of(static_cast<uint16_t>(scale), codes));
    const double d = f16_decode(static_cast<uint16_t>(scale));
    for (int code = 0; code < 16; ++code) {
      const double want = d * (code - 8);  // exact: 11 bits times 4 bits
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(weights[code])) << scale << " " << code;
        continue;
      }
      ASSERT_EQ(double(weights[code]), want) << scale << " " << code;
      ASSERT_EQ(std::signbit(weights[code]), std::signbit(want)) << scale << " " << code;
      ASSERT_EQ(bits_of(weights[16 + code]), bits_of(weights[code]));
    }
  }
}

TEST(Q4Block, AnInfiniteScaleGivesNanAtCodeEight) {
  EXPECT_TRUE(std::isnan(decode(block_of(0x7C00, same_code(8)))[0]));
  EXPECT_EQ(decode(block_of(0x7C00, same_code(7)))[0], -float_infinity);
}

Block encode(const Weights& weights) {
  Block block{};
  EXPECT_EQ(q4_0_encode_block(weights.data(), block.data()), "");
  return block;
}

int code_at(const Block& block, int i) {
  return i < 16 ? block[2 + i] & 15 : block[2 + i - 16] >> 4;
}

TEST(Q4Quantiser, AZeroBlockHasScaleMinusZeroAndCodesEightAndDecodesToMinusZero) {
  const Block block = encode(Weights{});
  EXPECT_EQ(block, block_of(0x8000, same_code(8)));
  for (float weight : decode(block)) EXPECT_EQ(bits_of(weight), 0x80000000U);
}

TEST(Q4Quantiser, ABlockOfMinusZerosIsAZeroBlock) {
  Weights weights;
  weights.fill(-0.0F);
  EXPECT_EQ(encode(weights), block_of(0x8000, same_code(8)));
}

TEST(Q4Quantiser, TheFirstLargestElementGetsCodeZeroAndItsOppositeIsClippedToFifteen) {
  Weights weights{};
  weights[3] = 8;  // the first of the largest: d = 8 / -8 = -1
  weights[20] = -8;
  const Block block = encode(weights);
  EXPECT_EQ(block[0] | block[1] << 8, 0xBC00);  // -1
  EXPECT_EQ(code_at(block, 3), 0);              // 8 * -1 + 8.5 = 0.5
  EXPECT_EQ(code_at(block, 20), 15);            // 16.5, clipped
  EXPECT_EQ(decode(block)[3], 8.0F);
  EXPECT_EQ(decode(block)[20], -7.0F);
}

TEST(Q4Quantiser, TruncatesAfterAddingEightAndAHalf) {
  Weights weights{};
  weights[0] = -8;                          // d = 1
  weights[1] = 0.5F;                        // 9.0 -> 9
  weights[2] = std::nextafter(0.5F, 0.0F);  // 8.99999997 rounds to 9 in float32 -> 9
  weights[3] = 0.4375F;                     // 8.9375 -> 8
  weights[4] = -0.5F;                       // 8.0 -> 8
  weights[5] = -0.5625F;                    // 7.9375 -> 7
  const Block block = encode(weights);
  EXPECT_EQ(code_at(block, 1), 9);
  EXPECT_EQ(code_at(block, 2), 9);
  EXPECT_EQ(code_at(block, 3), 8);
  EXPECT_EQ(code_at(block, 4), 8);
  EXPECT_EQ(code_at(block, 5), 7);
}

TEST(Q4Quantiser, CodesComeFromTheFloat32ScaleAndNotFromTheStoredOne) {
  // d = 1 + 2^-11 + 2^-23 is stored as 1 + 2^-10. The weight w = 0.5 d gives w fl(1/d) + 8.5 =
  // 9 - 6e-8 or 9, both 9 in float32; by the stored scale it would be 8.9998, code 8.
  const float d = 1 + 0x1p-11F + 0x1p-23F;
  Weights weights{};
  weights[0] = -8 * d;
  weights[1] = d / 2;
  const Block block = encode(weights);
  EXPECT_EQ(block[0] | block[1] << 8, 0x3C01);
  EXPECT_EQ(code_at(block, 1), 9);
}

TEST(Q4Quantiser, ABlockWhoseScaleRoundsToZeroKeepsItsCodesAndDecodesToZeros) {
  Weights weights{};
  weights[0] = -0x1p-23F;  // d = 2^-26, below half the smallest f16
  weights[1] = 0x1p-24F;   // half of it: 4 + 8.5 -> 12
  const Block block = encode(weights);
  EXPECT_EQ(block[0] | block[1] << 8, 0x0000);
  EXPECT_EQ(code_at(block, 0), 0);
  EXPECT_EQ(code_at(block, 1), 12);
  EXPECT_THAT(decode(block), Each(0.0F));
}

TEST(Q4Quantiser, WhereTheInverseScaleOverflowsTheBlockCountsAsZero) {
  Weights weights{};
  weights[7] = 0x1p-125F;  // d = -2^-128, 1/d = -2^128 overflows
  EXPECT_EQ(encode(weights), block_of(0x8000, same_code(8)));
  weights[7] = 0x1.000008p-125F;  // |d| = 2^-128 (1 + 2^-21): 1/d is finite
  EXPECT_EQ(code_at(encode(weights), 7), 0);
}

TEST(Q4Quantiser, RefusesNanInfinityAndScalesThatF16CannotHold) {
  Block block{};
  Weights weights{};
  weights[31] = float_nan;
  EXPECT_THAT(q4_0_encode_block(weights.data(), block.data()), HasSubstr("weight 31"));
  weights[31] = -float_infinity;
  EXPECT_THAT(q4_0_encode_block(weights.data(), block.data()), HasSubstr("infinite"));
  weights[31] = 8 * 65504.0F;
  EXPECT_EQ(q4_0_encode_block(weights.data(), block.data()), "");
  EXPECT_EQ(block[0] | block[1] << 8, 0xFBFF);  // -65504
  weights[31] = std::nextafter(8 * 65504.0F, 1e9F);
  EXPECT_THAT(q4_0_encode_block(weights.data(), block.data()), HasSubstr("65504"));
}

// Blocks of every byte value, with a scale that tells row and block apart.
std::vector<uint8_t> distinct_blocks(int64_t rows, int64_t cols) {
  std::vector<uint8_t> blocks(static_cast<size_t>(q4_bytes(rows, cols)));
  for (size_t i = 0; i < blocks.size(); ++i) {
    blocks[i] = static_cast<uint8_t>((i * 167 + i / 251 * 13) & 0x7F);
  }
  return blocks;
}

TEST(Q4Tile, BytesStandWhereTheLayoutSaysAndAreFlipped) {
  const std::vector<uint8_t> blocks = distinct_blocks(4, 32);
  const std::vector<uint8_t> tile = q4_tile_pack(blocks, 4, 32);
  ASSERT_EQ(tile.size(), 72U);
  const auto block_byte = [&](int row, int byte) { return blocks[row * 18 + byte]; };
  EXPECT_EQ(tile[0], block_byte(0, 0));
  EXPECT_EQ(tile[7], block_byte(3, 1));
  // Code byte 0 of row 0, then byte 3; byte 0 of row 1; byte 4 of row 0; byte 15 of row 3.
  EXPECT_EQ(tile[8], block_byte(0, 2) ^ 0x88);
  EXPECT_EQ(tile[11], block_byte(0, 5) ^ 0x88);
  EXPECT_EQ(tile[12], block_byte(1, 2) ^ 0x88);
  EXPECT_EQ(tile[24], block_byte(0, 6) ^ 0x88);
  EXPECT_EQ(tile[71], block_byte(3, 17) ^ 0x88);
}

TEST(Q4Tile, PackAndUnpackAreInversesInBothDirections) {
  for (const auto& [rows, cols] : {std::pair{4, 32}, {8, 32}, {4, 96}, {12, 160}}) {
    const std::vector<uint8_t> bytes = distinct_blocks(rows, cols);
    EXPECT_EQ(q4_tile_unpack(q4_tile_pack(bytes, rows, cols), rows, cols), bytes);
    EXPECT_EQ(q4_tile_pack(q4_tile_unpack(bytes, rows, cols), rows, cols), bytes);
  }
}

TEST(Q4Tile, RowsDecodeAsTheirBlocksDo) {
  const int64_t rows = 12, cols = 96;
  const std::vector<uint8_t> blocks = distinct_blocks(rows, cols);
  const std::vector<uint8_t> tiles = q4_tile_pack(blocks, rows, cols);
  for (int64_t row = 0; row < rows; ++row) {
    std::vector<float> from_blocks(cols), from_tiles(cols);
    q4_0_decode_row(blocks.data(), cols, row, from_blocks.data());
    q4_tile_decode_row(tiles.data(), cols, row, from_tiles.data());
    for (int64_t i = 0; i < cols; ++i) {
      // code 8 is -0 or 0 either way: d times 0.
      ASSERT_EQ(bits_of(from_blocks[i]), bits_of(from_tiles[i])) << row << " " << i;
    }
  }
}

TEST(Q4Tile, TheLastBlockOfALongRowIsItsOwn) {
  for (int64_t blocks_per_row : {1, 2, 3, 5, 7, 8, 9, 16, 17, 33, 36, 65}) {
    const int64_t cols = 32 * blocks_per_row;
    std::vector<float> weights(static_cast<size_t>(8 * cols), 0.0F);
    weights[static_cast<size_t>(5 * cols + cols - 1)] = -8;
    std::string why;
    const auto tiles = q4_tile_quantise(weights, 8, cols, &why);
    ASSERT_TRUE(tiles.has_value()) << why;
    for (int64_t row = 0; row < 8; ++row) {
      std::vector<float> decoded(static_cast<size_t>(cols));
      q4_tile_decode_row(tiles->data(), cols, row, decoded.data());
      const float total = std::accumulate(decoded.begin(), decoded.end(), 0.0F);
      EXPECT_EQ(total, row == 5 ? -8.0F : 0.0F) << blocks_per_row << " " << row;
      EXPECT_EQ(decoded.back(), row == 5 ? -8.0F : 0.0F);
    }
  }
}

TEST(Q4Tile, WrongDimensionsAreNamed) {
  EXPECT_EQ(why_not_q4_tile(4, 32), "");
  EXPECT_EQ(why_not_q4_tile(6, 32), "rows is 6; expected a positive multiple of 4");
  EXPECT_EQ(why_not_q4_tile(0, 32), "rows is 0; expected a positive multiple of 4");
  EXPECT_EQ(why_not_q4_tile(4, 48), "cols is 48; expected a positive multiple of 32");
  std::string why;
  EXPECT_FALSE(q4_tile_quantise(std::vector<float>(6 * 32), 6, 32, &why).has_value());
  EXPECT_THAT(why, HasSubstr("rows is 6"));
}

TEST(Q4Tile, ABlockThatCannotBeQuantisedIsNamedByRowAndColumn) {
  std::vector<float> weights(4 * 64, 1.0F);
  weights[2 * 64 + 40] = float_nan;
  std::string why;
  EXPECT_FALSE(q4_tile_quantise(weights, 4, 64, &why).has_value());
  EXPECT_THAT(why, HasSubstr("row 2, columns from 32: weight 8"));
}

TEST(Q8, RoundsHalfAwayFromZeroAndDecodesWithTheF16Scale) {
  std::vector<float> x(32, 0.0F);
  x[0] = 127;  // d = 1
  x[1] = 2.5F;
  x[2] = -2.5F;
  x[3] = 2.49F;
  const std::vector<float> decoded = q8_0_round_trip(x);
  EXPECT_EQ(decoded[0], 127.0F);
  EXPECT_EQ(decoded[1], 3.0F);
  EXPECT_EQ(decoded[2], -3.0F);
  EXPECT_EQ(decoded[3], 2.0F);
  EXPECT_EQ(decoded[31], 0.0F);
}

TEST(Q8, TheScaleIsStoredAsF16ButQuantisesInFloat32) {
  std::vector<float> x(32, 0.0F);
  // d = 1 + 2^-12 exactly, f16(d) = 1: 127 d has code 127 and decodes to 127.
  x[0] = 127 * (1 + 0x1p-12F);
  EXPECT_EQ(q8_0_round_trip(x)[0], 127.0F);
}

TEST(Q8, BlocksAreIndependent) {
  std::vector<float> x(64, 1.0F);
  x[40] = 1270;
  const std::vector<float> decoded = q8_0_round_trip(x);
  // amax 1: d = fl(1/127), as f16 0x2008 = 1.0078125 * 2^-7; 127 of it.
  EXPECT_EQ(decoded[0], 127 * 0x1.02p-7F);
  EXPECT_EQ(decoded[63], 0.0F);  // 0.1 of a step of 10
  EXPECT_EQ(decoded[40], 1270.0F);
}

TEST(Q8, ZeroAndTinyBlocksDecodeToZeros) {
  EXPECT_THAT(q8_0_round_trip(std::vector<float>(32, 0.0F)), Each(0.0F));
  // d is about 2^-130, so 1/d overflows and counts as 0.
  EXPECT_THAT(q8_0_round_trip(std::vector<float>(32, 0x1p-123F)), Each(0.0F));
}

TEST(Q8, AnInfinityMakesItsBlockNanAndANanOnlyItself) {
  std::vector<float> x(64, 1.0F);
  x[5] = float_infinity;
  x[37] = float_nan;
  const std::vector<float> decoded = q8_0_round_trip(x);
  for (int i = 0; i < 32; ++i) EXPECT_TRUE(std::isnan(decoded[i])) << i;
  for (int i = 32; i < 64; ++i) EXPECT_EQ(std::isnan(decoded[i]), i == 37) << i;
}

}  // namespace
}  // namespace gdn
