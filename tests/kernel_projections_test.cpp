// The kernels of projections: float32 and 4-bit weights, q8_0 activations, and dequant, on the
// simulator, against the reference and bit for bit against the order that they declare.
#include <cstdint>

#include "device/kernels/dequant.cuh"
#include "device/kernels/gemv_f32.cuh"
#include "device/kernels/gemv_q4.cuh"
#include "device/kernels/q8_activations.cuh"
#include "reference/formats.h"
#include "reference/operators.h"
#include "tests/simulated_kernels.h"

namespace gdn {
namespace {

std::vector<float> product_f32(const std::vector<float>& w, const std::vector<float>& x,
                               uint64_t order_seed = 0, unsigned threads = 128) {
  SimulatedMachine machine(order_seed);
  const auto cols = static_cast<int64_t>(x.size());
  const int64_t rows = static_cast<int64_t>(w.size()) / cols;
  float* const y = machine.fresh<float>(static_cast<size_t>(rows));
  machine.run<kernels::gemv_f32>(kernels::gemv_f32_shape(rows, cols, threads),
                                 {{machine.put(w)}, {machine.put(x)}, {y}, rows, cols});
  return machine.get(y, static_cast<size_t>(rows));
}

std::vector<float> product_q4(const std::vector<uint8_t>& tiles, int64_t rows,
                              const std::vector<float>& x, uint64_t order_seed = 0,
                              unsigned threads = 128, bool checks = true) {
  SimulatedMachine machine(order_seed, checks);
  const auto cols = static_cast<int64_t>(x.size());
  float* const y = machine.fresh<float>(static_cast<size_t>(rows));
  machine.run<kernels::gemv_q4>(kernels::gemv_q4_shape(rows, cols, threads),
                                {{machine.put(tiles)}, {machine.put(x)}, {y}, rows, cols});
  return machine.get(y, static_cast<size_t>(rows));
}

std::vector<float> rounded_to_q8(const std::vector<float>& x, uint64_t order_seed = 0,
                                 unsigned threads = 128) {
  SimulatedMachine machine(order_seed);
  const auto count = static_cast<int64_t>(x.size());
  float* const y = machine.fresh<float>(x.size());
  machine.run<kernels::q8_activations>(kernels::q8_activations_shape(count, threads),
                                       {{machine.put(x)}, {y}, count});
  return machine.get(y, x.size());
}

std::vector<float> decoded(const std::vector<uint8_t>& tiles, int64_t rows, int64_t cols,
                           uint64_t order_seed = 0, unsigned threads = 128, bool checks = true) {
  SimulatedMachine machine(order_seed, checks);
  const auto count = static_cast<size_t>(rows * cols);
  float* const out = machine.fresh<float>(count);
  machine.run<kernels::dequant>(kernels::dequant_shape(rows, cols, threads),
                                {{machine.put(tiles)}, {out}, rows, cols});
  return machine.get(out, count);
}

std::vector<float> walked_product(const std::vector<float>& w, const std::vector<float>& x) {
  const Reduction order = kernel_contract().in_proj;
  std::vector<float> y;
  for (size_t begin = 0; begin < w.size(); begin += x.size()) {
    y.push_back(walked_sum(order, std::span(w).subspan(begin, x.size()), x));
  }
  return y;
}

// Tiles of drawn nibbles with drawn scales between 2^-10 and 2^4, of either sign.
std::vector<uint8_t> drawn_tiles(Rng& rng, int64_t rows, int64_t cols) {
  std::vector<uint8_t> tiles(static_cast<size_t>(rows / 4 * (cols / 32) * q4_tile_bytes));
  for (size_t i = 0; i < tiles.size(); ++i) {
    tiles[i] = static_cast<uint8_t>(rng.next());
    const size_t in_tile = i % static_cast<size_t>(q4_tile_bytes);
    const bool is_high_byte_of_scale = in_tile < 8 && in_tile % 2 == 1;
    if (is_high_byte_of_scale) {
      const int64_t exponent = rng.range(5, 19);
      tiles[i] = static_cast<uint8_t>((rng.next() & 0x83U) | static_cast<uint64_t>(exponent << 2));
    }
  }
  return tiles;
}

TEST(KernelGemvF32, HasTheBitsOfItsDeclaredOrderAtOddShapes) {
  Rng rng(1);
  const std::pair<int, int> shapes[] = {{1, 1},    {3, 5},    {5, 20},  {2, 127},
                                        {3, 130},  {2, 512},  {1, 515}, {3, 1030},
                                        {2, 2048}, {1, 2052}, {2, 2561}};
  for (const auto& [rows, cols] : shapes) {
    SCOPED_TRACE(testing::Message() << rows << " x " << cols);
    const std::vector<float> w = drawn(rng, int64_t{rows} * cols);
    const std::vector<float> x = drawn(rng, cols);
    const std::vector<float> y = same_in_every_launch(
        {128, 256},
        [&](uint64_t order, unsigned threads) { return product_f32(w, x, order, threads); });
    expect_same("declared order", y, walked_product(w, x));
    const Contract contract = kernel_contract();
    expect_within("y", y,
                  project({rows, cols, w.data(), nullptr}, exactly(x), Dialect::Activation::f32,
                          contract.in_proj, contract));
  }
}

TEST(KernelGemvF32, SubnormalsAreKeptAndNanSpreads) {
  // 2^-100 2^-40 = 2^-140 is subnormal; twice that is 2^-139.
  EXPECT_EQ(product_f32({0x1p-100F, 0x1p-100F}, {0x1p-40F, 0x1p-40F})[0], 0x1p-139F);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> y = product_f32({1, 2, 0, 4}, {1, nan});
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_TRUE(std::isnan(y[1]));
}

TEST(KernelGemvQ4, HasTheBitsOfItsDeclaredOrderAtEveryNumberOfTiles) {
  Rng rng(2);
  const Contract contract = kernel_contract();
  for (const int tiles_a_row : {1, 2, 3, 5, 7, 8, 9, 16, 17, 33, 36, 65}) {
    const int64_t rows = 12;
    const int64_t cols = 32 * tiles_a_row;
    SCOPED_TRACE(testing::Message() << rows << " x " << cols);
    const std::vector<uint8_t> tiles = drawn_tiles(rng, rows, cols);
    const std::vector<float> x = drawn(rng, cols);
    const std::vector<float> y =
        same_in_every_launch({128, 64, 256}, [&](uint64_t order, unsigned threads) {
          return product_q4(tiles, rows, x, order, threads);
        });
    std::vector<float> w(static_cast<size_t>(rows * cols));
    for (int64_t r = 0; r < rows; ++r)
      q4_tile_decode_row(tiles.data(), cols, r, &w[static_cast<size_t>(r * cols)]);
    expect_same("declared order of decoded weights", y, walked_product(w, x));
    expect_same("float32 kernel on decoded weights", y, product_f32(w, x));
    expect_within("y", y,
                  project({rows, cols, nullptr, tiles.data()}, exactly(x), Dialect::Activation::f32,
                          contract.in_proj, contract));
  }
}

// Twelve rows of tiles: on one block of two at once, on two blocks and on seven, of which the last
// has none left in its second half.
TEST(KernelGemvQ4, HasTheSameBitsHoweverManyRowsOfTilesABlockTakes) {
  Rng rng(7);
  const int64_t rows = 48;
  for (const int64_t cols : {64, 1056}) {
    const std::vector<uint8_t> tiles = drawn_tiles(rng, rows, cols);
    const std::vector<float> x = drawn(rng, cols);
    const std::vector<float> want = product_q4(tiles, rows, x);
    for (const unsigned blocks : {1U, 2U, 7U}) {
      SimulatedMachine machine;
      float* const y = machine.fresh<float>(static_cast<size_t>(rows));
      machine.run<kernels::gemv_q4>({.blocks = blocks, .threads = 128},
                                    {{machine.put(tiles)}, {machine.put(x)}, {y}, rows, cols});
      expect_same("y", machine.get(y, static_cast<size_t>(rows)), want);
    }
  }
}

// Each of the 65,536 scales in a row of its own, the 16 codes along it. A weight is exact in
// float32, subnormal and negative scales included.
std::vector<uint8_t> every_scale() {
  std::vector<uint8_t> blocks;
  for (unsigned scale = 0; scale < 65536; ++scale) {
    blocks.push_back(static_cast<uint8_t>(scale));
    blocks.push_back(static_cast<uint8_t>(scale >> 8));
    for (unsigned j = 0; j < 16; ++j) blocks.push_back(static_cast<uint8_t>(j | (15 - j) << 4));
  }
  return q4_tile_pack(blocks, 65536, 32);
}

TEST(KernelDequant, DecodesEveryScaleAndCodeAsIeeeSays) {
  const std::vector<uint8_t> tiles = every_scale();
  const std::vector<float> got = decoded(tiles, 65536, 32, 0, 128, false);
  std::vector<float> want(got.size());
  for (int64_t r = 0; r < 65536; ++r) {
    q4_tile_decode_row(tiles.data(), 32, r, &want[static_cast<size_t>(32 * r)]);
  }
  expect_same("weights", got, want);
}

TEST(KernelDequant, WritesEachElementOfOddShapesOnce) {
  Rng rng(3);
  for (const auto& [rows, cols] : {std::pair{4, 32}, {8, 96}, {20, 160}}) {
    SCOPED_TRACE(testing::Message() << rows << " x " << cols);
    const std::vector<uint8_t> tiles = drawn_tiles(rng, rows, cols);
    const std::vector<float> out =
        same_in_every_launch({128, 32}, [&](uint64_t order, unsigned threads) {
          return decoded(tiles, rows, cols, order, threads);
        });
    expect_within("weights", out, dequant(tiles.data(), rows, cols));
  }
}

TEST(KernelGemvQ4, DecodesEveryFiniteScaleExactly) {
  Rng rng(4);
  const std::vector<uint8_t> tiles = every_scale();
  const std::vector<float> x = drawn(rng, 32);
  const std::vector<float> y = product_q4(tiles, 65536, x, 0, 128, false);
  std::vector<float> w(32);
  size_t finite = 0;
  for (int64_t r = 0; r < 65536; ++r) {
    if ((r & 0x7C00) == 0x7C00) {
      EXPECT_FALSE(std::isfinite(y[static_cast<size_t>(r)])) << "scale " << r;
      continue;
    }
    ++finite;
    q4_tile_decode_row(tiles.data(), 32, r, w.data());
    ASSERT_EQ(y[static_cast<size_t>(r)], walked_sum(kernel_contract().in_proj, w, x))
        << "scale " << r;
  }
  EXPECT_EQ(finite, 65536U - 2048U) << "exponent 31 aside, every pattern is a number";
}

// Scale 1, byte j = j | (15 - j) << 4: column j has weight j - 8, column j + 16 weight 7 - j.
TEST(KernelGemvQ4, LowNibblesComeFirst) {
  std::vector<uint8_t> blocks;
  for (int row = 0; row < 4; ++row) {
    blocks.push_back(0x00);
    blocks.push_back(0x3C);
    for (int j = 0; j < 16; ++j) blocks.push_back(static_cast<uint8_t>(j | (15 - j) << 4));
  }
  const std::vector<uint8_t> tiles = q4_tile_pack(blocks, 4, 32);
  for (int column = 0; column < 32; ++column) {
    std::vector<float> unit(32, 0.0F);
    unit[static_cast<size_t>(column)] = 1;
    const auto weight = static_cast<float>(column < 16 ? column - 8 : 23 - column);
    EXPECT_EQ(product_q4(tiles, 4, unit), std::vector<float>(4, weight)) << "column " << column;
  }
}

TEST(KernelQ8Activations, HasTheBitsOfTheFormat) {
  Rng rng(5);
  std::vector<float> x;
  for (const float scale : {1.0F, 0x1p-60F, 0x1p-148F, 0x1p30F, 0.0F}) {
    const std::vector<float> block = drawn(rng, 32, scale);
    x.insert(x.end(), block.begin(), block.end());
  }
  x[1] = std::numeric_limits<float>::quiet_NaN();
  x[40] = std::numeric_limits<float>::infinity();
  // Largest 254, so d = 2: 1 and 3 lie midway, and -1.
  const std::vector<float> ties = {254, 1, 3, -1, -3, 5};
  std::vector<float> block(32, 0.0F);
  std::copy(ties.begin(), ties.end(), block.begin());
  x.insert(x.end(), block.begin(), block.end());
  const std::vector<float> y = same_in_every_launch(
      {128, 32},
      [&](uint64_t order, unsigned threads) { return rounded_to_q8(x, order, threads); });
  expect_same("values", y, q8_0_round_trip(x));
  const std::vector<float> of_ties(y.end() - 32, y.end() - 26);
  EXPECT_EQ(of_ties, (std::vector<float>{254, 2, 4, -2, -4, 6})) << "half away from zero";
}

TEST(KernelQ8Activations, ProjectionsOfThemStayWithinTheBound) {
  Rng rng(6);
  const Contract contract = kernel_contract();
  const std::vector<uint8_t> tiles = drawn_tiles(rng, 8, 672);
  const std::vector<float> x = drawn(rng, 672);
  expect_within("y", product_q4(tiles, 8, rounded_to_q8(x)),
                project({8, 672, nullptr, tiles.data()}, exactly(x), Dialect::Activation::q8_0,
                        contract.in_proj, contract));
}

}  // namespace
}  // namespace gdn
