// The default mix of random search, measured: what it promises holds, and every regime occurs.
#include "invariants/harness/regimes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "invariants/harness/regimes_parts.h"

namespace gdn {
namespace {

constexpr uint64_t seed = 3;
constexpr int64_t drawn = 20'000;

const std::map<std::string, int64_t>& histogram() {
  static const std::map<std::string, int64_t> counted = [] {
    std::map<std::string, int64_t> counts;
    for (uint64_t i = 0; i < drawn; ++i) {
      for (const std::string& name : regimes_of(draw_case(seed, i))) ++counts[name];
    }
    return counts;
  }();
  return counted;
}

int64_t count_of(const std::string& regime) {
  const auto found = histogram().find(regime);
  return found == histogram().end() ? 0 : found->second;
}

TEST(Regimes, SharesOfTheDefaultMixAreAsStated) {
  EXPECT_GE(100 * count_of("state >= 64x64"), large_states_percent * drawn);
  EXPECT_GE(100 * count_of("tokens >= 64"), long_streams_percent * drawn);
  EXPECT_GE(100 * count_of("horizon >= 1000"), long_horizons_percent * drawn);
}

// A regime that a search meets less than ten times in 20,000 cases is not searched.
TEST(Regimes, EveryOneOccurs) {
  const std::vector<std::string> all = all_regimes();
  for (const std::string& name : all) {
    EXPECT_GE(count_of(name), 10) << name;
    std::printf("%6.2f %%  %s\n", 100.0 * static_cast<double>(count_of(name)) / drawn,
                name.c_str());
  }
  for (const auto& [name, count] : histogram()) {
    EXPECT_EQ(std::count(all.begin(), all.end(), name), 1) << name;
  }
}

TEST(Regimes, EveryDrawnCaseIsValidAndReadsBackAndHasNumbers) {
  for (uint64_t i = 0; i < 5000; ++i) {
    const Case c = draw_case(seed, i);
    ASSERT_EQ(why_invalid(c), "") << print(c);
    std::string why;
    const std::optional<Case> read = parse_case(print(c), &why);
    ASSERT_TRUE(read.has_value()) << why << "\n" << print(c);
    ASSERT_EQ(print(*read), print(c));
    ASSERT_TRUE(materialise(c, &why).has_value()) << why << "\n" << print(c);
  }
}

// A search that is split over processes draws what one process would.
TEST(Regimes, ACaseDependsOnSeedAndNumberAlone) {
  const std::string tenth = print(draw_case(seed, 10));
  draw_case(seed, 9);
  EXPECT_EQ(print(draw_case(seed, 10)), tenth);
  EXPECT_NE(print(draw_case(seed + 1, 10)), tenth);
  EXPECT_NE(print(draw_case(seed, 11)), tenth);
}

TEST(Regimes, MostCasesAreTiny) {
  int64_t tiny = 0;
  for (uint64_t i = 0; i < 2000; ++i) {
    const Case c = draw_case(seed, i);
    tiny += c.shape.head_k_dim * c.shape.head_v_dim <= 16 * 16 && c.tokens <= 8;
  }
  EXPECT_GT(tiny, 1000);
}

// +-20 with a neighbour on either side, both zeros, both infinities and a NaN are all among them.
TEST(Regimes, GateEdgesAreExact) {
  std::map<std::string, int> kinds;
  for (const float x : gate_edges()) {
    kinds["zero"] += x == 0;
    kinds["infinite"] += std::isinf(x);
    kinds["nan"] += std::isnan(x);
    kinds["20"] += std::abs(x) == 20;
    kinds["beside 20"] +=
        std::abs(x) == std::nextafter(20.0F, 21.0F) || std::abs(x) == std::nextafter(20.0F, 0.0F);
  }
  EXPECT_EQ(kinds, (std::map<std::string, int>{
                       {"zero", 2}, {"infinite", 2}, {"nan", 1}, {"20", 2}, {"beside 20", 4}}));
}

Numbers numbers_of(const Case& c) {
  std::string why;
  std::optional<Numbers> made = materialise(c, &why);
  EXPECT_TRUE(made.has_value()) << why;
  return made.value_or(Numbers{});
}

Case projection(int64_t cols) {
  Case c;
  c.subject = Subject::in_proj;
  c.seed = 5;
  c.shape = {.hidden_size = cols,
             .num_k_heads = 1,
             .head_k_dim = 1,
             .num_v_heads = 1,
             .head_v_dim = 1,
             .conv_kernel = 1};
  c.rows = 4;
  c.cols = cols;
  return c;
}

// Each pair adds x w - x (w + 2^-20 w), so at most 2^-20 of the sum of magnitudes is left.
TEST(Recipes, CancellingSumsCancel) {
  Case c = projection(8);
  c.recipe.cancelling_bits = 20;
  const Numbers n = numbers_of(c);
  const std::vector<float>& x = n.arrays.at("x");
  const std::vector<float>& w = n.arrays.at("weight");
  for (size_t row = 0; row < 4; ++row) {
    double sum = 0;
    double magnitudes = 0;
    for (size_t i = 0; i < 8; ++i) {
      const double product = static_cast<double>(x[i]) * static_cast<double>(w[row * 8 + i]);
      sum += product;
      magnitudes += std::abs(product);
    }
    EXPECT_GT(magnitudes, 0);
    EXPECT_LE(std::abs(sum), magnitudes * 0x1p-20);
  }
}

TEST(Recipes, EdgesOfFloat32AreShares) {
  Case c = projection(4096);
  c.recipe.tiny_64ths = 64;
  const std::vector<float> tiny = numbers_of(c).arrays.at("x");
  for (const float v : tiny) EXPECT_LE(std::abs(v), 0x1.000002p-126F);
  c.recipe.tiny_64ths = 0;
  c.recipe.extreme_64ths = 16;
  const std::vector<float> x = numbers_of(c).arrays.at("x");
  const auto ordinary = std::count_if(x.begin(), x.end(), [](float v) { return std::abs(v) < 1; });
  // A quarter of 4096 replaced, one in six of those by any bits, of which half lie below 1.
  EXPECT_NEAR(static_cast<double>(ordinary), 4096 * (0.75 + 0.25 / 12), 150);
  EXPECT_TRUE(std::any_of(x.begin(), x.end(), [](float v) { return std::isnan(v); }));
}

// sigmoid(100) rounds to 1.
TEST(Recipes, BetaReachesTwo) {
  Case c = projection(1);
  c.subject = Subject::delta_rule;
  c.rows = c.cols = 0;
  c.recipe.beta_logit = 100;
  EXPECT_EQ(numbers_of(c).arrays.at("beta"), std::vector<float>{1.0F});
  c.recipe.beta_factor = 2;
  EXPECT_EQ(numbers_of(c).arrays.at("beta"), std::vector<float>{2.0F});
}

TEST(Recipes, ScalesOf4BitWeightsCanBeAnyBits) {
  Case c = projection(3200);
  c.weights = Weights::q4;
  const auto not_finite = [](const Numbers& n) {
    int64_t count = 0;
    for (size_t tile = 0; tile * 72 < n.tiles.size(); ++tile) {
      for (size_t row = 0; row < 4; ++row) {
        count += (n.tiles[tile * 72 + 2 * row + 1] & 0x7C) == 0x7C;
      }
    }
    return count;
  };
  c.recipe.weight_pattern = static_cast<int64_t>(Pattern::any_finite);
  EXPECT_EQ(not_finite(numbers_of(c)), 0);
  c.recipe.weight_pattern = static_cast<int64_t>(Pattern::any_bits);
  EXPECT_GT(not_finite(numbers_of(c)), 0);
}

}  // namespace
}  // namespace gdn
