// The statistical tier: its theorem on data where rounding takes no side, its controls where it
// does, and what it sees beneath the proven bound.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "invariants/harness/invariant.h"
#include "invariants/harness/statistics.h"
#include "reference/rounding_spread.h"

namespace gdn {
namespace {

const Lab& lab_of(const std::string& name) {
  static std::map<std::string, std::unique_ptr<Lab>> labs;
  std::unique_ptr<Lab>& lab = labs[name];
  if (lab == nullptr) {
    std::string why;
    std::optional<EngineSource> engine = find_engine(name, &why);
    EXPECT_TRUE(engine.has_value()) << why;
    lab = std::make_unique<Lab>(*std::move(engine));
  }
  return *lab;
}

Case projection_case(int64_t rows, int64_t cols, uint64_t seed) {
  Case c;
  c.subject = Subject::in_proj;
  c.seed = seed;
  c.shape = {1, 1, 1, 1, 1, 1};
  c.rows = rows;
  c.cols = cols;
  return c;
}

Reduction unknown_order() { return {}; }

class RoundsToNearest : public testing::TestWithParam<std::tuple<const char*, int64_t>> {};
INSTANTIATE_TEST_SUITE_P(RoundingStatistics, RoundsToNearest,
                         testing::Combine(testing::Values("twin", "simt"),
                                          testing::Values(128, 1000, 5120)));

TEST_P(RoundsToNearest, AsItsContractOrdersSumsAndWithoutIt) {
  const auto& [engine, cols] = GetParam();
  const Case c = projection_case(64, cols, 7);
  const Verdict known = judge_roundings(c, lab_of(engine));
  EXPECT_TRUE(known.holds()) << known.detail;
  EXPECT_EQ(known.elements, 64U);
  const Verdict unknown = judge_roundings(c, lab_of(engine), unknown_order());
  EXPECT_TRUE(unknown.holds()) << unknown.detail;
  // The widest of several spreads is no tighter than the engine's own, which the twin's is among.
  if (std::string_view(engine) == "twin") {
    EXPECT_LE(unknown.worst_ratio, known.worst_ratio);
  }
}

// Our own sum in the declared order is the engine's, bit for bit: what the control stands for.
TEST(RoundingStatistics, TheControlIsTheSumOfTheDeclaredOrder) {
  for (const char* engine : {"twin", "simt"}) {
    for (const int64_t cols : {1, 3, 255, 256, 257, 1030}) {
      const Case c = projection_case(8, cols, 11);
      std::string why;
      const Numbers numbers = *materialise(c, &why);
      const Observation seen = lab_of(engine).run(c);
      const std::vector<float> own =
          float32_sums(lab_of(engine).contract().in_proj, numbers.arrays.at("weight").data(), 8,
                       cols, numbers.arrays.at("x"));
      EXPECT_TRUE(equal_bits(seen.calls.front().arrays.at("y"), own)) << engine << " " << cols;
    }
  }
}

// The error of an operation is spread evenly over half an ulp to both sides, a mean square of a
// third; where it drops a single bit it is 0 or the whole half, a mean square of a half.
TEST(RoundingStatistics, ErrorsOfRandomNumbersUseTheDeviationTheyAreGiven) {
  const Case c = projection_case(4096, 512, 3);
  Verdict why;
  const auto all = projection_errors(c, lab_of("twin"), std::nullopt, &why);
  ASSERT_EQ(all.size(), 1U) << why.detail;
  const SumErrors& errors = all.front().errors.of_engine();
  double squares = 0;
  for (size_t i = 0; i < errors.error.size(); ++i) {
    const double z = errors.error[i] / errors.spread[i].deviation;
    squares += z * z;
  }
  const double rms = std::sqrt(squares / static_cast<double>(errors.error.size()));
  EXPECT_LT(rms, 1 / std::sqrt(2.0));
  EXPECT_GT(rms, 1 / std::sqrt(4.0));
}

// At laxer odds the tests may be wrong so often, and are wrong less.
TEST(RoundingStatistics, LimitsAreExceededNoMoreOftenThanTheOddsSay) {
  constexpr int tensors = 300;
  constexpr double odds = 0.1;
  int exceeded[4] = {};
  for (int i = 0; i < tensors; ++i) {
    Verdict why;
    const auto all = projection_errors(projection_case(16, 128, 100 + static_cast<uint64_t>(i)),
                                       lab_of("twin"), std::nullopt, &why);
    const std::vector<Oddity> seen = oddities(all.at(0).errors.of_engine(), odds);
    for (size_t test = 0; test < seen.size(); ++test) exceeded[test] += seen[test].ratio() > 1;
  }
  for (const int count : exceeded) EXPECT_LE(count, odds * tensors);
}

class Suspects : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(
    RoundingStatistics, Suspects,
    testing::ValuesIn(invariant_named("projections_round_to_nearest")->claim.suspects),
    [](const auto& mutant) { return mutant.param; });

// The proven bound holds for every element of the same tensor.
TEST_P(Suspects, AreSeenBeneathTheProvenBound) {
  const Lab& lab = lab_of("mutant:" + GetParam());
  const Case c = projection_case(256, 1000, 5);
  const std::vector<float> y = lab.run(c).calls.front().arrays.at("y");
  EXPECT_TRUE(within("y", y, lab.expect(c).calls.front().arrays.at("y")).holds());
  const Verdict known = check(*invariant_named("projections_round_to_nearest"), c, lab);
  EXPECT_EQ(known.outcome, Outcome::suspicious) << known.detail;
  EXPECT_GT(known.worst_ratio, 1);
  const Verdict unknown = judge_roundings(c, lab, unknown_order());
  EXPECT_EQ(unknown.outcome, Outcome::suspicious) << unknown.detail;
  EXPECT_NE(known.detail.find("with odds of"), std::string::npos) << known.detail;
}

TEST_P(Suspects, AreMutants) {
  std::string why;
  EXPECT_TRUE(find_engine("mutant:" + GetParam(), &why).has_value()) << why;
}

// Sums of equal numbers round to the same side again and again.
TEST(RoundingStatistics, StructuredNumbersAreLeftOut) {
  Case c = projection_case(64, 5000, 9);
  c.recipe.pattern = static_cast<int64_t>(Pattern::equal);
  c.recipe.weight_pattern = static_cast<int64_t>(Pattern::equal);
  std::string why;
  const Numbers drawn = *materialise(c, &why);
  std::vector<float> thirds(drawn.arrays.at("x").size(), 1.0F / 3);
  c = c.with_numbers("x", thirds);
  const Verdict verdict = judge_roundings(c, lab_of("twin"));
  EXPECT_EQ(verdict.outcome, Outcome::not_applicable) << verdict.detail;
  EXPECT_NE(verdict.detail.find("takes sides"), std::string::npos) << verdict.detail;
}

// A number that is no rounding error at all, in one element of many.
TEST(RoundingStatistics, OneWrongElementIsSeen) {
  const Case c = projection_case(64, 512, 13);
  std::string why;
  const Numbers numbers = *materialise(c, &why);
  const std::vector<float>& w = numbers.arrays.at("weight");
  const std::vector<float>& x = numbers.arrays.at("x");
  const Reduction order = lab_of("twin").contract().in_proj;
  std::vector<float> y = float32_sums(order, w.data(), c.rows, c.cols, x);
  const auto spreads = rounding_spreads(order, w.data(), c.rows, c.cols, x);
  const auto verdict_of = [&](const std::vector<float>& got) {
    ProjectionErrors errors(order);
    EXPECT_TRUE(errors.add(got, w.data(), c.rows, c.cols, x));
    return errors.verdict("y");
  };
  EXPECT_TRUE(verdict_of(y).holds());
  y[40] += static_cast<float>(9 * spreads[40].deviation);
  EXPECT_EQ(verdict_of(y).outcome, Outcome::suspicious);
  EXPECT_NE(verdict_of(y).detail.find("an error is too large"), std::string::npos);
}

TEST(RoundingStatistics, NothingIsSaidOfNumbersThatAreNotFinite) {
  const Reduction order = lab_of("twin").contract().in_proj;
  const std::vector<float> w = {1, INFINITY}, x = {1, 1};
  EXPECT_TRUE(rounding_spreads(order, w.data(), 1, 2, x).empty());
  const std::vector<float> huge = {3e38F, 3e38F};
  EXPECT_TRUE(rounding_spreads(order, huge.data(), 1, 2, x).empty());
  ProjectionErrors errors(order);
  EXPECT_FALSE(errors.add(std::vector<float>{INFINITY}, x.data(), 1, 2, x));
  EXPECT_EQ(errors.verdict("y").outcome, Outcome::not_applicable);
}

}  // namespace
}  // namespace gdn
