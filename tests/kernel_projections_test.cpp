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
                              unsigned blocks = 0, bool checks = true) {
  SimulatedMachine machine(order_seed, checks);
  const auto cols = static_cast<int64_t>(x.size());
  float* const y = machine.fresh<float>(static_cast<size_t>(rows));
  LaunchShape shape = kernels::gemv_q4_shape(rows, cols);
  if (blocks > 0) shape.blocks = blocks;
  const kernels::GemvQ4 params = {{machine.put(tiles)}, {machine.put(x)}, {y}, rows, cols};
  if (kernels::is_gemv_q4_wide(params.tiles.address, cols)) {
    machine.run<kernels::gemv_q4>(shape, params);
  } else {
    machine.run<kernels::gemv_q4_narrow>(shape, params);
  }
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

// x of blocks of 32 as the kernel takes it: high to nearest of x 2^(14 - E), low of what is left
// times 2^15, both whole; E by the block's largest.
struct Parts {
  std::vector<double> high, low;  // worth what they stand for
};

Parts parts_of(const std::vector<float>& x) {
  Parts parts;
  for (size_t begin = 0; begin < x.size(); begin += 32) {
    float largest = 0x1p-126F;
    for (size_t i = begin; i < begin + 32; ++i) largest = std::max(largest, std::fabs(x[i]));
    const int unit = std::ilogb(largest) + 1 - 14;
    for (size_t i = begin; i < begin + 32; ++i) {
      const double high = std::nearbyint(std::ldexp(double{x[i]}, -unit));
      const double left = std::ldexp(double{x[i]}, -unit) - high;
      parts.high.push_back(std::ldexp(high, unit));
      parts.low.push_back(std::ldexp(std::nearbyint(std::ldexp(left, 15)), unit - 15));
    }
  }
  return parts;
}

// Sums of 32 products are exact in double; each is one fused addition to its chain: chains are of
// low and high of the first and second tile of pairs, in each of up to 16 warps.
float sum_in_order(const std::vector<float>& w, const Parts& x) {
  constexpr size_t warps_max = 16, pairs_held = 6;
  const size_t tiles = w.size() / 32;
  const size_t pairs = (tiles + 1) / 2;
  const size_t warps = std::min(pairs, warps_max);
  std::vector<float> of_warps(warps, 0.0F);
  for (size_t first = 0; first < pairs; first += warps * pairs_held) {
    const size_t here = std::min(pairs - first, warps * pairs_held);
    const size_t each = (here + warps - 1) / warps;
    for (size_t warp = 0; warp < warps; ++warp) {
      float chains[4] = {};
      for (size_t s = 0; s < each; ++s) {
        const size_t pair = first + warp * each + s;
        for (size_t t = 0; t < 2; ++t) {
          const size_t tile = 2 * pair + t;
          if (tile >= tiles || warp * each + s >= here) continue;
          double low = 0, high = 0;
          for (size_t i = 32 * tile; i < 32 * tile + 32; ++i) {
            low += double{w[i]} * x.low[i];
            high += double{w[i]} * x.high[i];
          }
          chains[2 * t] = static_cast<float>(chains[2 * t] + low);
          chains[2 * t + 1] = static_cast<float>(chains[2 * t + 1] + high);
        }
      }
      const float sum = (chains[0] + chains[1]) + (chains[2] + chains[3]);
      of_warps[warp] = first == 0 ? sum : sum + of_warps[warp];
    }
  }
  return walked_stage({Reduction::Stage::Kind::tree_adjacent, 0, false}, of_warps)[0];
}

std::vector<float> decoded_row(const std::vector<uint8_t>& tiles, int64_t cols, int64_t row) {
  std::vector<float> w(static_cast<size_t>(cols));
  q4_tile_decode_row(tiles.data(), cols, row, w.data());
  return w;
}

std::vector<float> products_in_order(const std::vector<uint8_t>& tiles, int64_t rows,
                                     const std::vector<float>& x) {
  const Parts parts = parts_of(x);
  std::vector<float> y;
  for (int64_t r = 0; r < rows; ++r) {
    y.push_back(sum_in_order(decoded_row(tiles, static_cast<int64_t>(x.size()), r), parts));
  }
  return y;
}

// Shares of one pair of tiles and of several, a last tile without its neighbour, warps with fewer
// pairs than others and with none, and more columns than the warps hold at once.
TEST(KernelGemvQ4, HasTheBitsOfItsOrderAtEveryNumberOfTiles) {
  Rng rng(2);
  const Contract contract = kernel_contract();
  for (const int tiles_a_row : {1, 2, 3, 4, 5, 8, 31, 32, 33, 34, 64, 65, 66, 160, 192, 193, 226}) {
    const int64_t rows = 12;
    const int64_t cols = 32 * tiles_a_row;
    SCOPED_TRACE(testing::Message() << rows << " x " << cols);
    const std::vector<uint8_t> tiles = drawn_tiles(rng, rows, cols);
    const std::vector<float> x = drawn(rng, cols);
    const std::vector<float> y = same_in_every_launch({0, 1}, [&](uint64_t order, unsigned blocks) {
      return product_q4(tiles, rows, x, order, blocks);
    });
    expect_same("its order", y, products_in_order(tiles, rows, x));
    expect_within("y", y,
                  project({rows, cols, nullptr, tiles.data()}, exactly(x), Dialect::Activation::f32,
                          contract.in_proj, contract));
  }
}

// Units of eight rows: all on one block, in several rounds of sixteen, on three, on seven.
TEST(KernelGemvQ4, HasTheSameBitsHoweverManyRowsOfTilesABlockTakes) {
  Rng rng(7);
  const int64_t rows = 8 * 35 + 4;
  for (const int64_t cols : {64, 1056}) {
    const std::vector<uint8_t> tiles = drawn_tiles(rng, rows, cols);
    const std::vector<float> x = drawn(rng, cols);
    const std::vector<float> want = products_in_order(tiles, rows, x);
    for (const unsigned blocks : {0U, 1U, 3U, 7U}) {
      expect_same("y", product_q4(tiles, rows, x, 0, blocks), want);
    }
  }
}

TEST(KernelGemvQ4, OfMinusXIsMinusThatOfX) {
  Rng rng(8);
  const std::vector<uint8_t> tiles = drawn_tiles(rng, 8, 160);
  const std::vector<float> x = drawn(rng, 160);
  std::vector<float> y = product_q4(tiles, 8, x);
  std::vector<float> minus = x;
  for (float& one : minus) one = -one;
  for (float& one : y) one = -one;
  expect_same("y of -x, against -y", product_q4(tiles, 8, minus), y);
}

// Subnormal activations, those at float32's end, and some that are lost beside their largest.
TEST(KernelGemvQ4, TakesActivationsOfEverySize) {
  Rng rng(9);
  const Contract contract = kernel_contract();
  const std::vector<uint8_t> tiles = drawn_tiles(rng, 8, 192);
  std::vector<float> x;
  for (const float scale : {0x1p-149F, 0x1p-130F, 0x1p-90F, 0x1p100F, 0x1p115F, 0.0F}) {
    const std::vector<float> block = drawn(rng, 32, scale);
    x.insert(x.end(), block.begin(), block.end());
    std::vector<float> alone(192, 0.0F);
    std::copy(block.begin(), block.end(), alone.begin() + 64);
    SCOPED_TRACE(testing::Message() << "scale " << scale);
    const std::vector<float> y = product_q4(tiles, 8, alone);
    expect_same("its order", y, products_in_order(tiles, 8, alone));
    expect_within("y", y,
                  project({8, 192, nullptr, tiles.data()}, exactly(alone), Dialect::Activation::f32,
                          contract.in_proj, contract));
  }
  x[5] = 0x1p-60F;
  expect_same("all of them", product_q4(tiles, 8, x), products_in_order(tiles, 8, x));
}

TEST(KernelGemvQ4, WhatIsNotFiniteSpreads) {
  Rng rng(10);
  const std::vector<uint8_t> tiles = drawn_tiles(rng, 8, 128);
  for (const float odd :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<float> x = drawn(rng, 128);
    x[70] = odd;
    for (const float y : product_q4(tiles, 8, x)) EXPECT_TRUE(std::isnan(y)) << odd;
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
  const std::vector<float> y = product_q4(tiles, 65536, x, 0, 0, false);
  const Parts parts = parts_of(x);
  size_t finite = 0;
  for (int64_t r = 0; r < 65536; ++r) {
    if ((r & 0x7C00) == 0x7C00) {
      EXPECT_FALSE(std::isfinite(y[static_cast<size_t>(r)])) << "scale " << r;
      continue;
    }
    ++finite;
    ASSERT_EQ(y[static_cast<size_t>(r)], sum_in_order(decoded_row(tiles, 32, r), parts))
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
