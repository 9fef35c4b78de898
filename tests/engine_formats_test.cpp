// 4-bit weights and q8_0 activations as engines read them; literals by hand, scales all of them.
#include <cmath>

#include "tests/opened_engine.h"

namespace gdn {
namespace {

using testing::apply;
using testing::array;
using testing::bits;
using testing::Opened;

constexpr int64_t tile_bytes = 72;

// q4_0 codes of one row of 32 into a tile: low nibbles are columns 0..15, and XOR 8 makes them
// two's complement.
void put_row(uint8_t* tile, int row, uint16_t scale, const std::vector<int>& codes) {
  tile[2 * row] = static_cast<uint8_t>(scale & 0xFF);
  tile[2 * row + 1] = static_cast<uint8_t>(scale >> 8);
  for (size_t j = 0; j < 16; ++j) {
    const int byte = (codes[j] | codes[j + 16] << 4) ^ 0x88;
    tile[8 + (j / 4) * 16 + static_cast<size_t>(row) * 4 + j % 4] = static_cast<uint8_t>(byte);
  }
}

constexpr uint16_t f16_one = 0x3C00;

std::vector<float> project(std::vector<float> x, std::vector<uint8_t> weight, int64_t rows,
                           const gdn_options& options = testing::observing()) {
  const Opened engine(testing::small_shape(), options);
  std::vector<float> y(static_cast<size_t>(rows));
  EXPECT_EQ(apply(engine, GDN_IN_PROJ, testing::small_shape(),
                  {array("x", x), array("weight", weight)}, {array("y", y)}),
            GDN_OK)
      << engine.error();
  return y;
}

std::vector<float> decode(const std::vector<uint8_t>& tiles, int64_t rows, int64_t cols) {
  const Opened engine;
  std::vector<float> weights(static_cast<size_t>(rows * cols));
  EXPECT_EQ(engine.api.dequant(engine.handle, rows, cols, tiles.data(), weights.data()), GDN_OK)
      << engine.error();
  return weights;
}

ON_EVERY_ENGINE(EngineFourBit);

TEST_P(EngineFourBit, LowNibblesComeBeforeHighOnes) {
  // Byte j holds j below and 15 - j above: weights -8..7, then 7..-8, met by unit vectors.
  std::vector<int> codes(32);
  for (int j = 0; j < 16; ++j) {
    codes[static_cast<size_t>(j)] = j;
    codes[static_cast<size_t>(j + 16)] = 15 - j;
  }
  std::vector<uint8_t> tile(tile_bytes);
  for (int row = 0; row < 4; ++row) put_row(tile.data(), row, f16_one, codes);
  for (size_t column = 0; column < 32; ++column) {
    std::vector<float> x(32, 0.0F);
    x[column] = 1;
    const float want =
        column < 16 ? static_cast<float>(column) - 8.0F : 7.0F - static_cast<float>(column - 16);
    EXPECT_EQ(project(x, tile, 4), std::vector<float>(4, want)) << "column " << column;
  }
}

TEST_P(EngineFourBit, KeepsSubnormalScales) {
  // f16 0x0001 is 2^-24; code 1 is -7; times 2^24.
  std::vector<uint8_t> tile(tile_bytes);
  for (int row = 0; row < 4; ++row) put_row(tile.data(), row, 0x0001, std::vector<int>(32, 1));
  std::vector<float> x(32, 0.0F);
  x[31] = 0x1p24F;
  EXPECT_EQ(project(x, tile, 4), std::vector<float>(4, -7.0F));
}

TEST_P(EngineFourBit, ZeroBlockDecodesToMinusZero) {
  std::vector<uint8_t> tile(tile_bytes);
  for (int row = 0; row < 4; ++row) put_row(tile.data(), row, 0x8000, std::vector<int>(32, 8));
  EXPECT_EQ(bits(decode(tile, 4, 32)), bits(std::vector<float>(128, -0.0F)));
}

TEST_P(EngineFourBit, DecodesEveryScaleWithEveryCode) {
  // Row s has scale s; columns 0..15 hold codes 0..15, and so do columns 16..31.
  std::vector<uint8_t> matrix(65536 / 4 * tile_bytes);
  std::vector<int> codes(32);
  for (int j = 0; j < 32; ++j) codes[static_cast<size_t>(j)] = j % 16;
  for (int s = 0; s < 65536; ++s) {
    put_row(matrix.data() + s / 4 * tile_bytes, s % 4, static_cast<uint16_t>(s), codes);
  }
  const std::vector<float> weights = decode(matrix, 65536, 32);
  for (int s = 0; s < 65536; ++s) {
    const int exponent = s >> 10 & 31;
    const int significand = s & 1023;
    // The value of an f16 by its definition.
    double scale = exponent == 0    ? std::ldexp(significand, -24)
                   : exponent == 31 ? (significand == 0 ? INFINITY : NAN)
                                    : std::ldexp(1024 + significand, exponent - 25);
    if (s >> 15 != 0) scale = -scale;
    for (int j = 0; j < 32; ++j) {
      const float got = weights[static_cast<size_t>(s * 32 + j)];
      const double want = scale * (j % 16 - 8);
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(got)) << "scale " << s << ", code " << j % 16;
      } else {
        ASSERT_EQ(got, want) << "scale " << s << ", code " << j % 16;
        ASSERT_EQ(std::signbit(got), std::signbit(want)) << "scale " << s << ", code " << j % 16;
      }
    }
  }
}

TEST_P(EngineFourBit, CountsEveryBlockOnce) {
  // The only non-zero weight, 3, in the last block and then in the first, of each row alone.
  for (const int blocks : {1, 2, 3, 5, 7, 8, 9, 16, 17, 33, 36, 65}) {
    for (const int at : {blocks - 1, 0}) {
      for (int row = 0; row < 8; ++row) {
        std::vector<uint8_t> matrix(static_cast<size_t>(2 * blocks * tile_bytes));
        for (int t = 0; t < 2 * blocks; ++t) {
          for (int m = 0; m < 4; ++m) {
            std::vector<int> codes(32, 8);
            if (t == row / 4 * blocks + at && m == row % 4) codes[at == 0 ? 0 : 31] = 11;
            put_row(matrix.data() + t * tile_bytes, m, f16_one, codes);
          }
        }
        std::vector<float> want(8, 0.0F);
        want[static_cast<size_t>(row)] = 6;
        EXPECT_EQ(project(std::vector<float>(static_cast<size_t>(blocks * 32), 2.0F), matrix, 8),
                  want)
            << blocks << " blocks, row " << row << ", block " << at;
      }
    }
  }
}

TEST_P(EngineFourBit, GivesTheSameSumAsItsDecodedWeights) {
  const std::vector<uint8_t> matrix = testing::tiles(3, 12, 96);
  std::vector<float> decoded = decode(matrix, 12, 96);
  std::vector<float> x = testing::numbers(4, 96);
  const Opened engine;
  std::vector<float> y(12);
  ASSERT_EQ(apply(engine, GDN_IN_PROJ, testing::small_shape(),
                  {array("x", x), array("weight", decoded)}, {array("y", y)}),
            GDN_OK);
  EXPECT_EQ(bits(project(x, matrix, 12)), bits(y));
}

gdn_options with_q8() {
  gdn_options options = testing::observing();
  options.q8_activations = 1;
  return options;
}

// What the engine makes of activations: rows of the identity, in float32.
std::vector<float> activations(std::vector<float> x) {
  const Opened engine(testing::small_shape(), with_q8());
  const auto n = x.size();
  std::vector<float> identity(n * n, 0.0F), y(n);
  for (size_t i = 0; i < n; ++i) identity[i * n + i] = 1;
  EXPECT_EQ(apply(engine, GDN_OUT_PROJ, testing::small_shape(),
                  {array("x", x), array("weight", identity)}, {array("y", y)}),
            GDN_OK)
      << engine.error();
  return y;
}

ON_EVERY_ENGINE(EngineEightBit);

TEST_P(EngineEightBit, RoundsHalvesAwayFromZero) {
  // amax = 127, so d = 1, and codes are the values rounded.
  std::vector<float> x(32, 0.0F);
  x[0] = 127;
  x[1] = 2.5F;
  x[2] = -2.5F;
  x[3] = 3.49F;
  x[31] = -0.5F;
  std::vector<float> want(32, 0.0F);
  want[0] = 127;
  want[1] = 3;
  want[2] = -3;
  want[3] = 3;
  want[31] = -1;
  EXPECT_EQ(activations(x), want);
}

TEST_P(EngineEightBit, StoresTheScaleAsF16) {
  // amax = 127 (1 + 2^-12): d = 1 + 2^-12 stores as f16 1, and the largest decodes to 127.
  std::vector<float> x(32, 0.0F);
  x[5] = 127 * (1 + 0x1p-12F);
  EXPECT_EQ(activations(x)[5], 127.0F);
}

TEST_P(EngineEightBit, CountsABlockAsZeroWhereTheInverseOverflows) {
  // d = 2^-140 / 127 is subnormal and 1 / d beyond float32.
  std::vector<float> x(64, 0x1p-140F);
  for (size_t i = 32; i < 64; ++i) x[i] = 127;
  const std::vector<float> got = activations(x);
  for (size_t i = 0; i < 32; ++i) EXPECT_EQ(got[i], 0.0F);
  for (size_t i = 32; i < 64; ++i) EXPECT_EQ(got[i], 127.0F);
}

TEST_P(EngineEightBit, MeetsFourBitWeights) {
  // One column of 3 by x = 2.5 beside amax 127: code 3, so 9 and not 7.5.
  std::vector<uint8_t> tile(tile_bytes);
  std::vector<int> codes(32, 8);
  codes[7] = 11;
  for (int row = 0; row < 4; ++row) put_row(tile.data(), row, f16_one, codes);
  std::vector<float> x(32, 0.0F);
  x[0] = 127;
  x[7] = 2.5F;
  EXPECT_EQ(project(x, tile, 4, with_q8()), std::vector<float>(4, 9.0F));
  EXPECT_EQ(project(x, tile, 4), std::vector<float>(4, 7.5F));
}

}  // namespace
}  // namespace gdn
