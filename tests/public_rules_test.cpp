// The rules of public test suites: on numbers where each just accepts and just rejects, the float64
// loop against the multiprecision reference, and cases that lie in the ranges they claim.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ci/public_rules_cases.h"
#include "ci/public_rules_reference.h"

namespace gdn {
namespace {

std::string letters_of(const RuleSet& rules) {
  std::string letters;
  for (size_t i = 0; i < public_rule_count; ++i) {
    if (rules[i]) letters += public_rules()[i].letter;
  }
  return letters;
}

// A hundred ones, and one of them off by `error`.
std::string rejecting_one_off(float error) {
  Compared ones{std::vector<float>(100, 1), std::vector<double>(100, 1)};
  ones.got[7] += error;
  return letters_of(rejecting({ones}));
}

// NMSE is error^2 / 100, RMS ratio error / 10, the others error / 1 or / 2.
TEST(PublicRules, EachRejectsFromItsOwnToleranceOn) {
  EXPECT_EQ(rejecting_one_off(0), "");
  EXPECT_EQ(rejecting_one_off(0.99e-4F), "");
  EXPECT_EQ(rejecting_one_off(1.01e-4F), "M");
  EXPECT_EQ(rejecting_one_off(3.15e-3F), "M");
  EXPECT_EQ(rejecting_one_off(3.17e-3F), "NM");
  EXPECT_EQ(rejecting_one_off(4.1e-3F), "N2M");
  EXPECT_EQ(rejecting_one_off(2.1e-2F), "N12M");
  EXPECT_EQ(rejecting_one_off(5.1e-2F), "NR12M");
  EXPECT_EQ(rejecting_one_off(6.1e-2F), "NR123M");
  EXPECT_EQ(rejecting_one_off(1.01e-1F), "NRr123M");
}

// A state a thousand times as large as the output hides the output's error from what is pooled.
TEST(PublicRules, NmseIsPooledAndTheOthersAreNot) {
  const Compared state{std::vector<float>(100, 1000), std::vector<double>(100, 1000)};
  Compared output{std::vector<float>(100, 1), std::vector<double>(100, 1)};
  for (float& x : output.got) x += 0.2F;
  EXPECT_EQ(letters_of(rejecting({output, state})), "Rr123M");
}

TEST(PublicRules, WhatIsMissingOrNotFiniteIsRejectedByAll) {
  const std::vector<double> want = {1, 2};
  EXPECT_TRUE(rejecting({Compared{{1}, want}}).all());
  EXPECT_TRUE(rejecting({Compared{{1, NAN}, want}}).all());
  EXPECT_TRUE(rejecting({Compared{{INFINITY, 2}, want}}).all());
  const double nothing_asked = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(rejecting({Compared{{1, NAN}, {1, nothing_asked}}}).none());
  EXPECT_TRUE(rejecting({Compared{{0}, {0}}}).none());
}

Lab lab_of(const char* engine) {
  std::string why;
  return Lab(find_engine(engine, &why).value());
}

const std::vector<RuledCase>& cases() {
  static const std::vector<RuledCase> all = own_range_cases();
  return all;
}

// The short ones: of T = 1500 the exact result takes minutes.
TEST(PublicRules, TheFloat64LoopIsTheMultiprecisionReference) {
  const Lab twin = lab_of("twin");
  size_t compared = 0;
  for (const RuledCase& c : cases()) {
    if (c.content.tokens > 1) continue;
    const std::optional<RuledCase> exact = ruled(c.name, c.content, twin);
    ASSERT_TRUE(exact) << c.name;
    for (const WantedNumbers& wanted : c.want) {
      const auto same = [&](const WantedNumbers& other) {
        return other.call == wanted.call && other.from == wanted.from &&
               other.array == wanted.array;
      };
      const auto found = std::find_if(exact->want.begin(), exact->want.end(), same);
      ASSERT_NE(found, exact->want.end()) << c.name;
      ASSERT_EQ(found->value.size(), wanted.value.size()) << c.name;
      for (size_t i = 0; i < wanted.value.size(); ++i) {
        const double scale = 1 + std::abs(found->value[i]);
        // A few hundred float64 roundings of terms of order one.
        ASSERT_NEAR(wanted.value[i], found->value[i], 0x1p-40 * scale) << c.name << " " << i;
      }
      ++compared;
    }
  }
  EXPECT_EQ(compared, 2U * 9) << "one recurrence, one layer and one 4-bit layer, of three";
}

TEST(PublicRules, RangesHaveTheLengthsThatTheyClaim) {
  std::map<RuleRange, std::set<int64_t>> lengths;
  for (const RuledCase& c : cases()) {
    lengths[c.range].insert(c.content.tokens);
    EXPECT_EQ(why_invalid(c.content), "") << c.name;
  }
  EXPECT_THAT(lengths[RuleRange::a], testing::ElementsAre(1, 64, 256));
  EXPECT_THAT(lengths[RuleRange::b], testing::ElementsAre(75, 1024, 1500));
  EXPECT_THAT(lengths[RuleRange::c], testing::ElementsAre(1, 256));
}

const RuledCase& named(const std::string& name) {
  const auto found = std::find_if(cases().begin(), cases().end(),
                                  [&](const RuledCase& c) { return c.name == name; });
  EXPECT_NE(found, cases().end()) << name;
  return *found;
}

// What reaches the recurrence of a whole layer, as the twin reads it back.
TEST(PublicRules, LayersGiveTheRecurrenceTheRangesThatWereAsked) {
  const Lab twin = lab_of("twin");
  const auto extremes = [&](const std::string& name, Tensor tensor) {
    const Case& c = named(name).content;
    std::vector<Call> calls = stepped_calls(c);
    const Observation seen = twin.run(c.with_calls(calls));
    std::vector<float> all;
    for (const CallObserved& call : seen.calls) {
      const auto found = call.reads.find(tensor);
      if (found != call.reads.end())
        all.insert(all.end(), found->second.begin(), found->second.end());
    }
    const auto [low, high] = std::minmax_element(all.begin(), all.end());
    return std::pair(*low, *high);
  };
  const auto v = extremes("a layer, T 64", Tensor::V);
  EXPECT_GT(v.first, -0.3F);
  EXPECT_LT(v.first, -0.2F);
  EXPECT_LT(v.second, 5.01F);
  EXPECT_GT(v.second, 4.5F);
  const auto g = extremes("a layer, T 64", Tensor::G);
  EXPECT_GT(g.first, -30.0F);
  EXPECT_LT(g.first, -10.0F);
  EXPECT_GT(g.second, -1e-2F);
  const auto beta = extremes("a layer, T 64", Tensor::BETA);
  EXPECT_GT(beta.first, 0.0F);
  EXPECT_LT(beta.first, 0.1F);
  EXPECT_GT(beta.second, 0.9F);
  const auto v_of_b = extremes("b layer, T 75, g over 0.1", Tensor::V);
  EXPECT_GT(v_of_b.first, -1e-3F);
  EXPECT_LT(v_of_b.second, 1.01F);
  EXPECT_GT(v_of_b.second, 0.9F);
}

TEST(PublicRules, ARightEngineIsAcceptedAndAWrongOneIsNot) {
  const RuledCase& c = named("a recurrence, T 64");
  EXPECT_TRUE(rejecting(c, lab_of("twin")).none());
  EXPECT_TRUE(rejecting(c, lab_of("mutant:q_scale_twice")).all());
}

}  // namespace
}  // namespace gdn
