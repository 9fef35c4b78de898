// Small inputs that separate right from wrong, worked out by hand: the reference must give the
// right number, and its bound must reject the wrong answers that real engines have given.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "invariants/harness/verdict.h"
#include "reference/exact.h"
#include "reference/formats.h"
#include "reference/operators.h"

namespace gdn {
namespace {

const float nan_f = std::numeric_limits<float>::quiet_NaN();

bool accepts(const Bounded& want, float got) {
  return within("got", std::vector<float>{got}, want).holds();
}

Bounded gate(float x, float A_log) {
  return gates(exactly({x}), exactly({0}), std::vector<float>{A_log}, std::vector<float>{0},
               Dialect{}, any_f32_contract())
      .g;
}

double decay_of(const Bounded& g) { return std::exp(g.value[0]); }

TEST(ReferenceLiterals, ALogIsExponentiatedBeforeItScales) {
  const float x = 0.5413248546129181F;  // log(e - 1): softplus is 1
  EXPECT_NEAR(decay_of(gate(x, -1)), 0.69220, 5e-6);
  EXPECT_NEAR(decay_of(gate(x, 0)), 0.36788, 5e-6);
  EXPECT_NEAR(decay_of(gate(x, 2)), 6.18e-4, 5e-7);
  EXPECT_TRUE(accepts(gate(x, 2), -7.3890561F));
  EXPECT_FALSE(accepts(gate(x, 2), 2.0F)) << "raw A_log: growth";
}

TEST(ReferenceLiterals, AnOverflowingALogWithAVanishingSoftplusDecaysByOne) {
  const Bounded g = gate(-200, 100);  // -e^-100
  EXPECT_EQ(decay_of(g), 1);
  EXPECT_TRUE(accepts(g, -3.720076e-44F));
  EXPECT_FALSE(accepts(g, nan_f)) << "infinity times zero";
}

TEST(ReferenceLiterals, SoftplusAbove20IsItsArgument) {
  const Bounded g = gate(100, -5);
  EXPECT_NEAR(decay_of(g), 0.50977, 5e-6);
  EXPECT_FALSE(accepts(g, 0));
  EXPECT_FALSE(accepts(g, nan_f)) << "both branches blended";
}

NormedQk norm_of_equal(float a, Dialect::QkNorm form = Dialect::QkNorm::sum_eps) {
  Shape shape;
  shape.num_k_heads = 1;
  shape.head_k_dim = 128;
  shape.l2norm_eps = 1e-6F;
  Dialect dialect;
  dialect.qk_norm = form;
  const Bounded x = exactly(std::vector<float>(128, a));
  return qk_norm(x, x, shape, dialect, any_f32_contract());
}

double length_of(const Bounded& x) {
  double squares = 0;
  for (double element : x.value) squares += element * element;
  return std::sqrt(squares);
}

TEST(ReferenceLiterals, EpsIsAddedToTheSumOfSquares) {
  EXPECT_NEAR(length_of(norm_of_equal(1).k), 1.0000, 5e-5);
  EXPECT_NEAR(length_of(norm_of_equal(1e-2F).k), 0.99996, 5e-6);
  EXPECT_NEAR(length_of(norm_of_equal(1e-3F).k), 0.99612, 5e-6);
  EXPECT_NEAR(length_of(norm_of_equal(1e-4F).k), 0.74927, 5e-6);
  EXPECT_EQ(length_of(norm_of_equal(0).k), 0);
}

TEST(ReferenceLiterals, OtherFormsOfTheNormAreRejectedExceptWhereTheyCannotBeSeen) {
  for (const Dialect::QkNorm form : {Dialect::QkNorm::max_norm, Dialect::QkNorm::mean_eps}) {
    for (const float a : {1e-2F, 1e-3F, 1e-4F}) {
      const auto other = static_cast<float>(norm_of_equal(a, form).k.value[0]);
      EXPECT_FALSE(within("k", std::vector<float>(128, other), norm_of_equal(a).k).holds()) << a;
    }
  }
  const auto no_eps = static_cast<float>(1 / std::sqrt(128.0));
  EXPECT_TRUE(within("k", std::vector<float>(128, no_eps), norm_of_equal(1).k).holds());
  const std::vector<float> zero_by_zero(128, nan_f);
  EXPECT_FALSE(within("k", zero_by_zero, norm_of_equal(0).k).holds());
}

TEST(ReferenceLiterals, TheLastTapMultipliesTheNewestInput) {
  const std::vector<double> taps = {1, 10, 100, 1000}, window = {1, 2, 3, 4};
  EXPECT_EQ(exact_sum_of_products<Real>(taps, window), 4321);
  // silu(4321) is 4321 but for 4321 e^-4321.
  const Bounded y =
      conv(exactly({1, 2, 3, 4}), std::vector<float>{1, 10, 100, 1000}, 1, any_f32_contract());
  EXPECT_EQ(y.value[0], 4321);
  EXPECT_TRUE(accepts(y, 4321));
  EXPECT_FALSE(accepts(y, 1234)) << "flipped";
  EXPECT_FALSE(accepts(y, 4210)) << "one frame late";
}

// Rows of q4_0 blocks, block by block; the others of the four rows of a tile are like the first.
std::vector<uint8_t> tiles_of(const std::vector<uint8_t>& row) {
  std::vector<uint8_t> blocks;
  for (int i = 0; i < 4; ++i) blocks.insert(blocks.end(), row.begin(), row.end());
  const auto cols = static_cast<int64_t>(row.size()) / q4_block_bytes * q4_block_weights;
  return q4_tile_pack(blocks, 4, cols);
}

std::vector<uint8_t> block_of(uint16_t scale, uint8_t code_byte) {
  std::vector<uint8_t> block = {static_cast<uint8_t>(scale & 0xFF),
                                static_cast<uint8_t>(scale >> 8)};
  block.resize(static_cast<size_t>(q4_block_bytes), code_byte);
  return block;
}

// W x of the first row, x float32.
Bounded product_of(const std::vector<uint8_t>& tiles, const std::vector<float>& x) {
  const Matrix matrix{4, static_cast<int64_t>(x.size()), nullptr, tiles.data()};
  const Bounded y =
      project(matrix, exactly(x), Dialect::Activation::f32, Reduction{}, any_f32_contract());
  return slice(y, 0, 1);
}

std::vector<float> unit_vector(size_t size, size_t at, float value = 1) {
  std::vector<float> x(size, 0.0F);
  x[at] = value;
  return x;
}

TEST(ReferenceLiterals, LowNibblesComeFirstThenTheHighOnes) {
  std::vector<uint8_t> block = block_of(0x3C00, 0);  // d = 1
  for (size_t j = 0; j < 16; ++j) block[2 + j] = static_cast<uint8_t>(j | (15 - j) << 4);
  const std::vector<uint8_t> tiles = tiles_of(block);
  for (size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(product_of(tiles, unit_vector(32, i)).value[0], -8.0 + static_cast<double>(i));
    EXPECT_EQ(product_of(tiles, unit_vector(32, 16 + i)).value[0], 7.0 - static_cast<double>(i));
  }
}

TEST(ReferenceLiterals, SubnormalScalesAreKept) {
  // d = 2^-24, code 1 in each place: weight -7 2^-24.
  const Bounded y = product_of(tiles_of(block_of(0x0001, 0x11)), unit_vector(32, 0, 0x1p24F));
  EXPECT_EQ(y.value[0], -7);
  EXPECT_TRUE(accepts(y, -7));
  EXPECT_FALSE(accepts(y, 0)) << "flushed";
}

TEST(ReferenceLiterals, ABlockOfZerosIsZero) {
  const Bounded weights = dequant(tiles_of(block_of(0x8000, 0x88)).data(), 4, 32);
  for (size_t i = 0; i < weights.size(); ++i) {
    ASSERT_EQ(weights.value[i], 0);
    ASSERT_TRUE(std::signbit(weights.value[i])) << "d is -0, and so are the weights";
    ASSERT_EQ(weights.bound_of(i), 0);
  }
}

TEST(ReferenceLiterals, TheOnlyWeightOfARowIsFoundWhereverItsBlockStands) {
  for (const size_t blocks : {1U, 2U, 3U, 5U, 7U, 8U, 9U, 16U, 17U, 33U, 36U, 65U}) {
    for (const size_t full : {blocks - 1, size_t{0}}) {
      std::vector<uint8_t> row;
      for (size_t i = 0; i < blocks; ++i) {
        // Codes 8 are zeros; code 10 with d = 1 is 2.
        const std::vector<uint8_t> block = block_of(0x3C00, i == full ? 0xAA : 0x88);
        row.insert(row.end(), block.begin(), block.end());
      }
      const std::vector<uint8_t> tiles = tiles_of(row);
      const Bounded y = product_of(tiles, unit_vector(32 * blocks, 32 * full + 31, 3));
      EXPECT_EQ(y.value[0], 6) << blocks << " blocks, number " << full;
      EXPECT_FALSE(accepts(y, 0)) << "dropped";
      EXPECT_FALSE(accepts(y, 12)) << "counted twice";
    }
  }
}

}  // namespace
}  // namespace gdn
