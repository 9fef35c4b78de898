// Projections: float32 and 4-bit weights, float32, q8_0 and fixed-point activations, special
// values, and attacks on the bounds.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "invariants/harness/verdict.h"
#include "reference/formats.h"
#include "reference/operators.h"
#include "reference/q8_activations.h"
#include "tests/float_engine.h"

namespace gdn {
namespace {

using Activation = Dialect::Activation;

const float nan_f = std::numeric_limits<float>::quiet_NaN();

// y = W x with as many rows as w has.
Bounded product_of(const std::vector<float>& w, const Bounded& x,
                   const Contract& contract = any_f32_contract(),
                   Activation activation = Activation::f32) {
  const auto cols = static_cast<int64_t>(x.size());
  const Matrix matrix{static_cast<int64_t>(w.size()) / cols, cols, w.data(), nullptr};
  return project(matrix, x, activation, contract.in_proj, contract);
}

Bounded product_of_tiles(const std::vector<uint8_t>& tiles, const Bounded& x,
                         const Contract& contract = any_f32_contract(),
                         Activation activation = Activation::f32) {
  const Matrix matrix{4, static_cast<int64_t>(x.size()), nullptr, tiles.data()};
  return project(matrix, x, activation, contract.in_proj, contract);
}

Outcome outcome_of(const std::vector<float>& got, const Bounded& want) {
  return within("got", got, want).outcome;
}

TEST(Projection, RowsTimesActivations) {
  const Bounded y = product_of({1, 2, 3, 4}, exactly({5, 6}));
  EXPECT_EQ(y.value, (std::vector<double>{17, 39}));
  EXPECT_EQ(outcome_of({17, 39}, y), Outcome::holds);
  EXPECT_EQ(outcome_of({23, 34}, y), Outcome::fails) << "transposed";
}

// Of n terms in any order: gamma(n) sum |x w|, and no more.
TEST(Projection, TheBoundIsTheTheorems) {
  const double u = 0x1p-24;
  const Bounded y = product_of({1, -1}, exactly({1, 1}));
  EXPECT_EQ(y.value[0], 0);
  EXPECT_LE(y.bound[0], 2 * u / (1 - 2 * u) * 2 * (1 + 0x1p-20));
  EXPECT_GE(y.bound[0], u * 2) << "each product may round";
}

TEST(Projection, NanAndInfinitiesFollowIeee) {
  EXPECT_EQ(outcome_of({nan_f}, product_of({1, 0}, exactly({1, nan_f}))), Outcome::holds);
  EXPECT_EQ(outcome_of({1}, product_of({1, 0}, exactly({1, nan_f}))), Outcome::fails);
  EXPECT_EQ(outcome_of({nan_f}, product_of({1, 0}, exactly({1, HUGE_VALF}))), Outcome::holds);
  EXPECT_EQ(outcome_of({HUGE_VALF}, product_of({1, 1}, exactly({1, HUGE_VALF}))), Outcome::holds);
  EXPECT_EQ(outcome_of({nan_f}, product_of({1, 1}, exactly({-HUGE_VALF, HUGE_VALF}))),
            Outcome::holds);
  EXPECT_EQ(outcome_of({-HUGE_VALF}, product_of({-HUGE_VALF, 1}, exactly({2, 1}))), Outcome::holds);
}

TEST(Projection, ASumThatCanOverflowIsUndecided) {
  EXPECT_EQ(outcome_of({HUGE_VALF}, product_of({1, 1}, exactly({3e38F, 3e38F}))),
            Outcome::undecided);
  // Opposite signs: in order it is 0, but with others between it may overflow.
  EXPECT_EQ(outcome_of({0}, product_of({1, -1}, exactly({3e38F, 3e38F}))), Outcome::undecided);
}

// A block of d and 32 equal codes, in each of four rows.
std::vector<uint8_t> one_block(uint16_t scale, uint8_t code_byte) {
  std::vector<uint8_t> blocks;
  for (int row = 0; row < 4; ++row) {
    blocks.push_back(static_cast<uint8_t>(scale & 0xFF));
    blocks.push_back(static_cast<uint8_t>(scale >> 8));
    blocks.insert(blocks.end(), 16, code_byte);
  }
  return q4_tile_pack(blocks, 4, 32);
}

TEST(Projection, ABlockWhoseScaleIsNotFiniteGivesASumThatIsNot) {
  const std::vector<float> ones(32, 1.0F);
  for (const uint16_t scale : {uint16_t{0x7C00}, uint16_t{0xFC00}, uint16_t{0x7E00}}) {
    const Bounded y = product_of_tiles(one_block(scale, 0x99), exactly(ones));
    EXPECT_EQ(outcome_of({HUGE_VALF, -HUGE_VALF, nan_f, nan_f}, y), Outcome::holds);
    EXPECT_EQ(outcome_of({0, 0, 0, 0}, y), Outcome::fails);
  }
}

TEST(Projection, ANanActivationMakesEverySumNan) {
  std::vector<float> x(32, 1.0F);
  x[7] = nan_f;
  const Bounded y = product_of_tiles(one_block(0x3C00, 0x99), exactly(x));
  EXPECT_EQ(outcome_of({nan_f, nan_f, nan_f, nan_f}, y), Outcome::holds);
  EXPECT_EQ(outcome_of({HUGE_VALF, nan_f, nan_f, nan_f}, y), Outcome::fails);
}

TEST(Projection, UnknownActivationsLeaveEverySumUndecided) {
  const Bounded x = known_to_within({1, 0}, {0, infinity});
  EXPECT_EQ(outcome_of({1}, product_of({1, 0}, x)), Outcome::undecided);
}

std::vector<float> row_of(FloatEngine& engine, size_t n, int low, int span) {
  std::vector<float> all(n);
  for (float& x : all) x = engine.number(low, low + span);
  return all;
}

struct Row {
  std::vector<float> w, x;
};

// Gaussian-like, of all sizes, of tiny ones, or cancelling in pairs.
Row attacked_row(FloatEngine& engine) {
  const size_t sizes[] = {1, 2, 3, 5, 31, 64, 200};
  const size_t n = sizes[engine.rng().range(0, 6)];
  const int low = static_cast<int>(engine.rng().range(-90, 40));
  const int span = engine.rng().range(0, 1) == 0 ? 1 : 30;
  Row row{row_of(engine, n, -3, 3), row_of(engine, n, low, span)};
  if (engine.rng().range(0, 2) == 0) {
    for (size_t i = 1; i < n; i += 2) {
      row.w[i] = -row.w[i - 1];
      row.x[i] = row.x[i - 1];
    }
  }
  return row;
}

TEST(Projection, NoFloat32OrderLeavesTheBound) {
  double worst = 0;
  for (const Contract& contract : attacked_contracts()) {
    FloatEngine engine(contract, 1);
    for (int i = 0; i < 5000; ++i) {
      const Row row = attacked_row(engine);
      const float got = engine.sum_of_products(row.w, row.x, contract.in_proj);
      const Verdict verdict =
          within("y", std::vector<float>{got}, product_of(row.w, exactly(row.x), contract));
      ASSERT_TRUE(verdict.holds()) << verdict.detail << " n " << row.w.size();
      if (std::isnormal(got)) worst = std::max(worst, verdict.worst_ratio);
    }
  }
  RecordProperty("worst_ratio", std::to_string(worst));
  std::cout << "worst error/bound of a projection: " << worst << "\n";
  EXPECT_GT(worst, 0.5) << "a bound that nothing comes near judges nothing";
}

TEST(Projection, WhatTheActivationsCarryIsInTheBound) {
  double worst = 0;
  for (const Contract& contract : attacked_contracts()) {
    FloatEngine engine(contract, 2);
    for (int i = 0; i < 3000; ++i) {
      const Row row = attacked_row(engine);
      const std::vector<double> value(row.x.begin(), row.x.end());
      std::vector<double> bound;
      std::vector<float> own;
      for (double x : value) {
        bound.push_back(std::fabs(x * engine.number(-26, -1)));
        own.push_back(engine.near(x, bound.back()));
      }
      const float got = engine.sum_of_products(row.w, own, contract.in_proj);
      const Bounded want = product_of(row.w, known_to_within(value, bound), contract);
      const Verdict verdict = within("y", std::vector<float>{got}, want);
      ASSERT_TRUE(verdict.holds()) << verdict.detail << " n " << row.w.size();
      worst = std::max(worst, verdict.worst_ratio);
    }
  }
  std::cout << "worst error/bound of a projection of carried activations: " << worst << "\n";
  EXPECT_GT(worst, 0.5);
}

// Four equal rows of random blocks, and their weights.
struct Tiles {
  std::vector<uint8_t> bytes;
  std::vector<float> weights;  // of one row
  std::vector<float> scales;
};

Tiles random_tiles(FloatEngine& engine, size_t blocks) {
  std::vector<uint8_t> row;
  Tiles tiles;
  for (size_t i = 0; i < blocks; ++i) {
    const float d = engine.number(-10, -4);
    const uint16_t scale = f16_encode(d);
    tiles.scales.push_back(f16_decode(scale));
    row.push_back(static_cast<uint8_t>(scale & 0xFF));
    row.push_back(static_cast<uint8_t>(scale >> 8));
    for (int j = 0; j < 16; ++j) row.push_back(static_cast<uint8_t>(engine.rng().next() & 0xFF));
  }
  const auto cols = static_cast<int64_t>(32 * blocks);
  tiles.weights.resize(32 * blocks);
  q4_0_decode_row(row.data(), cols, 0, tiles.weights.data());
  std::vector<uint8_t> rows;
  for (int i = 0; i < 4; ++i) rows.insert(rows.end(), row.begin(), row.end());
  tiles.bytes = q4_tile_pack(rows, 4, cols);
  return tiles;
}

// d (sum code x - 8 sum x), block after block: what some engines make of 4-bit weights.
float offset_form(FloatEngine& engine, const Tiles& tiles, const std::vector<float>& x) {
  float total = 0;
  for (size_t block = 0; block < tiles.scales.size(); ++block) {
    float coded = 0, plain = 0;
    for (size_t i = 32 * block; i < 32 * block + 32; ++i) {
      const float code = tiles.weights[i] / tiles.scales[block] + 8;
      coded = engine.multiply_add(code, x[i], coded);
      plain = engine.add(plain, x[i]);
    }
    const float sum = engine.add(coded, -engine.multiply(8, plain));
    total = engine.add(total, engine.multiply(tiles.scales[block], sum));
  }
  return total;
}

TEST(Projection, NoFormOf4BitWeightsLeavesTheBound) {
  double worst = 0;
  const Contract contract = any_f32_contract();
  FloatEngine engine(contract, 3);
  for (int i = 0; i < 4000; ++i) {
    const Tiles tiles = random_tiles(engine, static_cast<size_t>(engine.rng().range(1, 4)));
    std::vector<float> x = row_of(engine, tiles.weights.size(), -3, 1);
    // Equal activations make the two sums large beside their difference.
    if (i % 2 == 0) std::fill(x.begin(), x.end(), engine.number(-1, 1));
    const float decoded = engine.sum_of_products(tiles.weights, x, contract.in_proj);
    const float offset = offset_form(engine, tiles, x);
    const Bounded want = product_of_tiles(tiles.bytes, exactly(x));
    const Verdict verdict = within("y", std::vector<float>{decoded, offset, decoded, offset}, want);
    ASSERT_TRUE(verdict.holds()) << verdict.detail;
    worst = std::max(worst, verdict.worst_ratio);
  }
  std::cout << "worst error/bound of 4-bit projections: " << worst << "\n";
  EXPECT_GT(worst, 0.005);
}

TEST(Projection, TilesGiveWhatTheirDecodedWeightsGive) {
  FloatEngine engine(any_f32_contract(), 4);
  const Tiles tiles = random_tiles(engine, 5);
  const std::vector<float> x = row_of(engine, tiles.weights.size(), -3, 1);
  const Bounded packed = product_of_tiles(tiles.bytes, exactly(x));
  const Bounded plain = product_of(tiles.weights, exactly(x));
  for (double y : packed.value) EXPECT_EQ(y, plain.value[0]);
  EXPECT_GT(packed.bound[0], plain.bound[0]) << "more can be done with a block's scale";
}

// amax 127 gives d = 1: values round to whole numbers, halves away from zero.
TEST(Projection, Q8ActivationsAreRoundedLikeTheEngines) {
  std::vector<float> x(32, 0.0F);
  x[0] = 127;
  x[1] = 2.5F;
  x[2] = -2.5F;
  x[3] = 2.4999998F;
  const auto rounded = [&](size_t at) {
    std::vector<float> w(32, 0.0F);
    w[at] = 1;
    return product_of(w, exactly(x), any_f32_contract(), Activation::q8_0).value[0];
  };
  EXPECT_EQ(rounded(0), 127);
  EXPECT_EQ(rounded(1), 3);
  EXPECT_EQ(rounded(2), -3);
  EXPECT_EQ(rounded(3), 2);
}

TEST(Projection, Q8RoundingOfCarriedActivationsStaysWithinItsBound) {
  FloatEngine engine(any_f32_contract(), 5);
  int flipped = 0;
  for (int i = 0; i < 3000; ++i) {
    const int low = static_cast<int>(engine.rng().range(-40, 10));
    const std::vector<float> middle = row_of(engine, 32, low, 4);
    const std::vector<double> value(middle.begin(), middle.end());
    std::vector<double> bound;
    std::vector<float> own;
    for (double x : value) {
      bound.push_back(std::fabs(x * engine.number(-24, -3)));
      own.push_back(engine.near(x, bound.back()));
    }
    const std::vector<float> got = q8_0_round_trip(own);
    const Bounded want = q8_0_activations(known_to_within(value, bound));
    const Verdict verdict = within("q8", got, want);
    ASSERT_TRUE(verdict.holds()) << verdict.detail;
    flipped += got != q8_0_round_trip(middle) ? 1 : 0;
  }
  EXPECT_GT(flipped, 1000) << "the attack must reach other codes";
}

TEST(Projection, Q8RoundingOfExactActivationsIsExact) {
  FloatEngine engine(any_f32_contract(), 6);
  const std::vector<float> x = row_of(engine, 64, -8, 8);
  const std::vector<float> want = q8_0_round_trip(x);
  const Bounded rounded = q8_0_activations(exactly(x));
  for (size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(rounded.value[i], want[i]);
    EXPECT_EQ(rounded.bound[i], 0);
  }
}

// Block fixed point of 8 bits, truncated: the worst that the contract allows.
TEST(Projection, FixedPointActivationsAreInTheBoundOfAContractThatSaysSo) {
  Contract contract = any_f32_contract();
  FloatEngine engine(contract, 7);
  Contract honest = contract;
  honest.activation_bits = 8;
  int caught = 0;
  for (int i = 0; i < 500; ++i) {
    const std::vector<float> x = row_of(engine, 64, -2, 2), w = row_of(engine, 64, -2, 2);
    std::vector<float> stepped = x;
    for (size_t begin = 0; begin < 64; begin += 32) {
      float largest = 0;
      for (size_t j = begin; j < begin + 32; ++j) largest = std::fmax(largest, std::fabs(x[j]));
      const float step = largest * 0x1p-7F;
      for (size_t j = begin; j < begin + 32; ++j) stepped[j] = std::trunc(x[j] / step) * step;
    }
    const float got = engine.sum_of_products(w, stepped, contract.in_proj);
    ASSERT_EQ(outcome_of({got}, product_of(w, exactly(x), honest)), Outcome::holds);
    caught += outcome_of({got}, product_of(w, exactly(x), contract)) == Outcome::fails ? 1 : 0;
  }
  EXPECT_GT(caught, 490) << "the same from an engine that claims float32";
}

TEST(Dequant, GivesWhatIeeeGivesForScalesThatAreNotFinite) {
  const Bounded infinite = dequant(one_block(0x7C00, 0x98).data(), 4, 32);  // codes 8 and 9
  EXPECT_EQ(outcome_of({nan_f}, slice(infinite, 0, 1)), Outcome::holds) << "infinity times 0";
  EXPECT_EQ(outcome_of({HUGE_VALF}, slice(infinite, 16, 1)), Outcome::holds);
  EXPECT_EQ(outcome_of({0}, slice(infinite, 0, 1)), Outcome::fails);
  const Bounded nan = dequant(one_block(0x7E00, 0x99).data(), 4, 32);
  EXPECT_EQ(outcome_of({nan_f}, slice(nan, 0, 1)), Outcome::holds);
}

}  // namespace
}  // namespace gdn
