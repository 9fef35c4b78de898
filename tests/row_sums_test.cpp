// Row sums in the lanes of a warp, whose source the GPU compiles too: against 50 digits, against
// the CPU's own sums, and as a projection uses them.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>

#include "invariants/harness/engine.h"
#include "reference/operators.h"
#include "reference/rng.h"
#include "tests/row_sums_by_lanes.h"

namespace gdn {
namespace {

TEST(RowSums, EveryF16PatternIsItsNumber) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const double want = f16_decode(static_cast<uint16_t>(bits));
    const double got = lanes::f16_value(bits);
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(got)) << bits;
    } else {
      EXPECT_EQ(std::bit_cast<uint64_t>(got), std::bit_cast<uint64_t>(want)) << bits;
    }
  }
}

// Tiles of random codes. `scale` gives the f16 bits of a block's d.
std::vector<uint8_t> drawn_tiles(Rng& rng, int64_t rows, int64_t cols,
                                 const std::function<uint16_t(Rng&)>& scale) {
  std::vector<uint8_t> tiles(static_cast<size_t>(q4_bytes(rows, cols)));
  for (uint8_t& byte : tiles) byte = static_cast<uint8_t>(rng.next());
  for (size_t tile = 0; tile < tiles.size(); tile += q4_tile_bytes) {
    for (size_t row = 0; row < 4; ++row) {
      const uint16_t bits = scale(rng);
      tiles[tile + 2 * row] = static_cast<uint8_t>(bits);
      tiles[tile + 2 * row + 1] = static_cast<uint8_t>(bits >> 8);
    }
  }
  return tiles;
}

uint16_t any_finite_scale(Rng& rng) {
  return static_cast<uint16_t>(rng.range(0, 0x7BFF) | (rng.range(0, 1) << 15));
}

std::vector<float> decoded(const std::vector<uint8_t>& tiles, int64_t cols, int64_t row) {
  std::vector<float> weights(static_cast<size_t>(cols));
  q4_tile_decode_row(tiles.data(), cols, row, weights.data());
  return weights;
}

std::vector<double> magnitudes_of(std::span<const double> numbers) {
  std::vector<double> sizes;
  for (const double number : numbers) sizes.push_back(std::fabs(number));
  return sizes;
}

// sum |w| e is within its roundings of 50 digits, and not below: a weighted sum is rounded up.
void expect_weighted(double got, const std::vector<float>& w, std::span<const double> e) {
  std::vector<float> sizes;
  for (const float weight : w) sizes.push_back(std::fabs(weight));
  const ExactDot want = multiprecision_dot(sizes, e);
  EXPECT_GE(got, want.value - want.radius);
  EXPECT_LE(got, want.value * (1 + 0x1p-29));
}

void expect_proven(const RowSum& got, const std::vector<float>& w, const RowInputs& in) {
  ASSERT_TRUE(is_usable(got));
  const ExactDot want = multiprecision_dot(w, in.x);
  EXPECT_LE(std::fabs(got.dot.value - want.value), got.dot.radius + want.radius);
  std::vector<float> sizes;
  for (const float weight : w) sizes.push_back(std::fabs(weight));
  const ExactDot size = multiprecision_dot(sizes, magnitudes_of(in.x));
  EXPECT_GE(got.dot.sum_abs, size.value - size.radius);
  EXPECT_LE(got.dot.sum_abs, size.value * (1 + 0x1p-38) + size.radius + 0x1p-1060);
  // gamma(4), one rounding of the result, and little else.
  EXPECT_LE(got.dot.radius, 0x1p-50 * got.dot.sum_abs + 0x1p-1060) << "a radius too wide";
  if (!in.bound.empty()) expect_weighted(got.carried, w, in.bound);
  if (!in.digits.empty()) expect_weighted(got.digits, w, in.digits);
}

void expect_near(double got, double want) {
  EXPECT_LE(std::fabs(got - want), 0x1p-40 * want) << got << " and " << want;
}

void expect_like_the_cpu(const RowSum& got, const RowSum& cpu) {
  EXPECT_LE(std::fabs(got.dot.value - cpu.dot.value), got.dot.radius + cpu.dot.radius);
  EXPECT_LE(std::fabs(got.dot.sum_abs - cpu.dot.sum_abs), 0x1p-38 * cpu.dot.sum_abs + 0x1p-1060);
  expect_near(got.carried, cpu.carried);
  expect_near(got.digits, cpu.digits);
}

// All rows of a matrix times x, against 50 digits and against the CPU.
void expect_sums(const std::vector<uint8_t>& tiles, int64_t rows, const RowInputs& in) {
  const auto cols = static_cast<int64_t>(in.x.size());
  std::vector<RowSum> got(static_cast<size_t>(rows));
  RowSumsByLanes(tiles.data(), rows, cols).take(in, got);
  for (int64_t row = 0; row < rows; ++row) {
    SCOPED_TRACE("row " + std::to_string(row) + " of " + std::to_string(cols) + " columns");
    const std::vector<float> w = decoded(tiles, cols, row);
    RowSum cpu;
    sum_rows(w.data(), cols, in, {&cpu, 1});
    expect_proven(got[static_cast<size_t>(row)], w, in);
    expect_like_the_cpu(got[static_cast<size_t>(row)], cpu);
  }
}

// Kinds of x: float32 numbers of one size and of many, doubles with all their bits, and such that
// some products underflow.
std::vector<double> drawn_x(Rng& rng, int64_t count, int kind) {
  std::vector<double> x;
  for (int64_t i = 0; i < count; ++i) {
    const float unit = rng.signed_unit();
    const double wide = static_cast<double>(static_cast<int64_t>(rng.next())) * 0x1p-63;
    const int exponent = static_cast<int>(rng.range(-60, 60));
    const double kinds[] = {unit, std::ldexp(unit, exponent), wide, std::ldexp(wide, exponent),
                            i % 3 == 0 ? wide * 0x1p-1050 : wide * 0x1p-900};
    x.push_back(kinds[kind]);
  }
  return x;
}

TEST(RowSums, EveryKindOfNumberIsWithinItsRadius) {
  Rng rng(7);
  for (const int64_t cols : {32, 64, 96, 544, 5120}) {
    for (int kind = 0; kind < 5; ++kind) {
      const int64_t rows = cols > 1000 ? 4 : 12;
      const std::vector<uint8_t> tiles = drawn_tiles(rng, rows, cols, any_finite_scale);
      const std::vector<double> x = drawn_x(rng, cols, kind);
      const std::vector<double> bound = magnitudes_of(drawn_x(rng, cols, 0));
      const std::vector<double> digits = magnitudes_of(drawn_x(rng, cols, 1));
      expect_sums(tiles, rows, {x, bound, digits});
      expect_sums(tiles, rows, {x, {}, {}});
    }
  }
}

// Rows of equal weights: d = 1, code 7 or -8.
std::vector<uint8_t> equal_tiles(int64_t cols, uint8_t byte) {
  std::vector<uint8_t> tiles(static_cast<size_t>(q4_bytes(4, cols)), byte);
  for (size_t tile = 0; tile < tiles.size(); tile += q4_tile_bytes) {
    for (size_t row = 0; row < 4; ++row)
      tiles[tile + 2 * row] = 0, tiles[tile + 2 * row + 1] = 0x3C;
  }
  return tiles;
}

// Each block behind the first two tiles is below half an ulp of its lane's sum: the corrections
// alone have it. Together those blocks are some 30 times the radius.
TEST(RowSums, WhatASumLosesIsKept) {
  constexpr int64_t cols = 5120;
  std::vector<double> x(cols, 0x1p-53);
  std::fill_n(x.begin(), 64, 1.0);
  expect_sums(equal_tiles(cols, 0x77), 4, {x, {}, {}});
  expect_sums(equal_tiles(cols, 0x88), 4, {x, {}, {}});
  for (size_t i = 0; i < x.size(); i += 2) x[i] = -x[i];
  expect_sums(equal_tiles(cols, 0x77), 4, {x, {}, {}});
}

// Each column alone, so that an element of the wrong lane, row or scale shows.
TEST(RowSums, EveryColumnMeetsItsWeight) {
  Rng rng(11);
  constexpr int64_t cols = 96, rows = 8;
  const std::vector<uint8_t> tiles = drawn_tiles(rng, rows, cols, any_finite_scale);
  const RowSumsByLanes sums(tiles.data(), rows, cols);
  for (size_t column = 0; column < cols; ++column) {
    std::vector<double> x(cols, 0.0);
    x[column] = 3;
    std::vector<RowSum> got(rows);
    sums.take({x, x, {}}, got);
    for (int64_t row = 0; row < rows; ++row) {
      const RowSum& sum = got[static_cast<size_t>(row)];
      const double weight = decoded(tiles, cols, row)[column];
      EXPECT_EQ(sum.dot.value, 3 * weight) << row << ", " << column;
      EXPECT_GE(sum.carried, std::fabs(3 * weight));
      EXPECT_EQ(sum.digits, 0);
    }
  }
}

TEST(RowSums, WhatIsNotFiniteIsNotUsable) {
  Rng rng(13);
  constexpr int64_t cols = 64;
  const std::vector<double> x = drawn_x(rng, cols, 0);
  for (const uint16_t scale : {0x7C00, 0xFC00, 0x7E00}) {
    const auto tiles = drawn_tiles(rng, 4, cols, [&](Rng&) { return scale; });
    std::vector<RowSum> got(4);
    RowSumsByLanes(tiles.data(), 4, cols).take({x, {}, {}}, got);
    for (const RowSum& sum : got) EXPECT_FALSE(is_usable(sum));
  }
}

TEST(RowSums, WhatUnderflowsAsAWholeIsNotUsable) {
  Rng rng(15);
  const auto tiles = drawn_tiles(rng, 4, 64, any_finite_scale);
  const std::vector<double> x(64, 0x1p-1060);
  std::vector<RowSum> got(4);
  RowSumsByLanes(tiles.data(), 4, 64).take({x, {}, {}}, got);
  for (const RowSum& sum : got) EXPECT_FALSE(is_usable(sum));
}

Contract contract_of(const char* engine) {
  std::string why;
  return find_engine(engine, &why)->description.contract;
}

// A projection as the engine on a GPU declares it.
struct Summed {
  explicit Summed(int64_t cols_) : cols(cols_), tiles(drawn_tiles(rng, rows, cols, one_scale)) {}
  static uint16_t one_scale(Rng& rng) { return static_cast<uint16_t>(0x1C00 + rng.range(0, 1023)); }
  void set_scale(int64_t row, uint16_t bits) {
    const auto tile = static_cast<size_t>(row / 4 * (cols / 32) * q4_tile_bytes + row % 4 * 2);
    tiles[tile] = static_cast<uint8_t>(bits);
    tiles[tile + 1] = static_cast<uint8_t>(bits >> 8);
  }
  // By the CPU, and by the lanes; how often those were asked.
  int project_both(const Bounded& x, const Contract& contract) {
    const RowSumsByLanes sums(tiles.data(), rows, cols);
    Matrix matrix{.rows = rows, .cols = cols, .f32 = nullptr, .tiles = tiles.data()};
    const auto by = [&] {
      return project(matrix, x, Dialect::Activation::f32, contract.in_proj, contract);
    };
    cpu = by();
    matrix.summed_by = &sums;
    other = by();
    return sums.taken;
  }

  static constexpr int64_t rows = 64;
  int64_t cols;
  Rng rng{17};
  std::vector<uint8_t> tiles;
  Bounded cpu, other;
};

TEST(RowSums, AProjectionSaysTheSameByThem) {
  Summed s(1024);
  s.set_scale(5, 0x7C00);
  s.set_scale(6, 0x7E00);
  const std::vector<double> x = drawn_x(s.rng, s.cols, 0);
  EXPECT_EQ(s.project_both({.value = x, .bound = {}, .tolerated = {}}, contract_of("simt")), 1);
  for (size_t row = 0; row < s.rows; ++row) {
    SCOPED_TRACE(row);
    if (row == 5 || row == 6) {
      EXPECT_TRUE(std::isnan(s.other.value[row]));
      EXPECT_EQ(s.other.bound[row], s.cpu.bound[row]);
      continue;
    }
    // Values differ by less than 2^-49 of sum |x w|, of which a bound is more than 2^-26.
    EXPECT_LE(std::fabs(s.other.value[row] - s.cpu.value[row]), 0x1p-23 * s.cpu.bound[row]);
    EXPECT_LE(std::fabs(s.other.bound[row] - s.cpu.bound[row]), 0x1p-23 * s.cpu.bound[row]);
    EXPECT_GT(s.other.bound[row], 0);
  }
}

TEST(RowSums, TheyAreAskedOnlyWhereTheySayAll) {
  Summed wide(1024), narrow(512);
  const auto ones = [](int64_t count) {
    return exactly(std::vector<float>(static_cast<size_t>(count), 1.0F));
  };
  EXPECT_EQ(wide.project_both(ones(1024), contract_of("simt")), 1);
  EXPECT_EQ(narrow.project_both(ones(512), contract_of("simt")), 0) << "short sums are walked";
  EXPECT_EQ(wide.project_both(ones(1024), contract_of("twin")), 0) << "an order is walked";
  EXPECT_EQ(wide.project_both(ones(1024), any_f32_contract()), 0) << "the offset form is possible";
  Contract flushes = contract_of("simt");
  flushes.flushes_subnormals = true;
  EXPECT_EQ(wide.project_both(ones(1024), flushes), 0) << "subnormal weights count";
  Bounded special = ones(1024);
  special.value[3] = HUGE_VAL;
  EXPECT_EQ(wide.project_both(special, contract_of("simt")), 0);
}

}  // namespace
}  // namespace gdn
