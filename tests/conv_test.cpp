// The causal convolution with SiLU: layout, special values, and attacks on its bound.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "invariants/harness/verdict.h"
#include "reference/operators.h"
#include "tests/float_engine.h"

namespace gdn {
namespace {

const float nan_f = std::numeric_limits<float>::quiet_NaN();

Outcome outcome_of(float got, const Bounded& want) {
  return within("got", std::vector<float>{got}, want).outcome;
}

// One channel of one tap 1: silu alone.
Bounded silu_of(float y, SigmoidForm form = SigmoidForm::any) {
  Contract contract = any_f32_contract();
  contract.silu = form;
  return conv(exactly({y}), std::vector<float>{1}, 1, contract);
}

TEST(Conv, EachChannelHasItsOwnTapsAndHistory) {
  // Two channels of two taps: 1*3 + 2*5 = 13 and 3*4 + 4*6 = 36; silu(13) = 13 - 13 / (1 + e^13).
  const Bounded y =
      conv(exactly({3, 4, 5, 6}), std::vector<float>{1, 2, 3, 4}, 2, any_f32_contract());
  EXPECT_NEAR(y.value[0], 13 - 2.93842159e-5, 1e-11);
  EXPECT_NEAR(y.value[1], 36, 1e-12);
}

TEST(Conv, ActivatesWithSilu) {
  EXPECT_NEAR(silu_of(1).value[0], 0.7310585786300049, 1e-15);
  EXPECT_NEAR(silu_of(-1).value[0], -0.2689414213699951, 1e-15);
  EXPECT_EQ(silu_of(0).value[0], 0);
}

TEST(Conv, NanAndInfinitiesHaveAStatedResult) {
  EXPECT_EQ(outcome_of(nan_f, silu_of(nan_f)), Outcome::holds);
  EXPECT_EQ(outcome_of(HUGE_VALF, silu_of(HUGE_VALF)), Outcome::holds);
  EXPECT_EQ(outcome_of(nan_f, silu_of(-HUGE_VALF)), Outcome::holds);
  EXPECT_EQ(outcome_of(0, silu_of(-HUGE_VALF)), Outcome::undecided);
  EXPECT_EQ(outcome_of(0, silu_of(-HUGE_VALF, SigmoidForm::divide)), Outcome::fails);
  // 0 times infinity in one tap, and infinities of both signs in two.
  const Contract contract = any_f32_contract();
  EXPECT_EQ(outcome_of(nan_f, conv(exactly({HUGE_VALF}), std::vector<float>{0}, 1, contract)),
            Outcome::holds);
  EXPECT_EQ(outcome_of(nan_f, conv(exactly({HUGE_VALF, -HUGE_VALF}), std::vector<float>{1, 1}, 1,
                                   contract)),
            Outcome::holds);
}

TEST(Conv, ASumThatCanOverflowIsUndecided) {
  const Bounded y = conv(exactly({3e38F, 3e38F}), std::vector<float>{1, 1}, 1, any_f32_contract());
  EXPECT_EQ(outcome_of(HUGE_VALF, y), Outcome::undecided);
}

// exp(89) overflows, and y / inf is -0, though silu(-89) = -89 e^-89 = -2e-37 can be written.
TEST(Conv, SiluMayVanishWhereItsExponentialOverflowsInThoseFormsAlone) {
  EXPECT_EQ(outcome_of(-0.0F, silu_of(-89, SigmoidForm::divide)), Outcome::holds);
  EXPECT_EQ(outcome_of(-0.0F, silu_of(-89, SigmoidForm::reciprocal)), Outcome::holds);
  EXPECT_EQ(outcome_of(-0.0F, silu_of(-89, SigmoidForm::exp_of_negative)), Outcome::fails);
  EXPECT_EQ(outcome_of(-0.0F, silu_of(-88, SigmoidForm::divide)), Outcome::fails);
}

struct Window {
  std::vector<float> taps, inputs;
};

// Taps and inputs of one size, or of all sizes, or that cancel.
Window window_of(FloatEngine& engine) {
  const auto ck = static_cast<size_t>(engine.rng().range(1, 6));
  const int low = static_cast<int>(engine.rng().range(-80, 40));
  Window window;
  for (size_t j = 0; j < ck; ++j) {
    window.taps.push_back(engine.number(-2, 1));
    window.inputs.push_back(engine.rng().range(0, 3) == 0 ? engine.number(-5, 7)
                                                          : engine.number(low, low + 3));
  }
  if (ck > 1 && engine.rng().range(0, 3) == 0) {
    window.taps[1] = -window.taps[0];
    window.inputs[1] = window.inputs[0] * (1 + engine.rng().unit() * 0x1p-10F);
  }
  return window;
}

TEST(Conv, NoFloat32EngineLeavesTheBound) {
  double worst = 0;
  for (const Contract& contract : attacked_contracts()) {
    FloatEngine engine(contract, 1);
    for (int i = 0; i < 5000; ++i) {
      const Window window = window_of(engine);
      const float y = engine.sum_of_products(window.taps, window.inputs, contract.conv);
      const float got = engine.sigmoid_in_form(y, true, contract.silu);
      const Bounded want = conv(exactly(window.inputs), window.taps, 1, contract);
      const Verdict verdict = within("conv", std::vector<float>{got}, want);
      ASSERT_TRUE(verdict.holds()) << verdict.detail << " contract " << &contract << " y " << y;
      if (std::isnormal(got)) worst = std::max(worst, verdict.worst_ratio);
    }
  }
  RecordProperty("worst_ratio", std::to_string(worst));
  std::cout << "worst error/bound of conv: " << worst << "\n";
  EXPECT_GT(worst, 0.5) << "a bound that nothing comes near judges nothing";
}

TEST(Conv, WhatTheWindowCarriesIsInTheBound) {
  double worst = 0;
  for (const Contract& contract : attacked_contracts()) {
    FloatEngine engine(contract, 2);
    for (int i = 0; i < 3000; ++i) {
      const Window window = window_of(engine);
      const std::vector<double> value(window.inputs.begin(), window.inputs.end());
      std::vector<double> bound;
      std::vector<float> own;
      for (double x : value) {
        bound.push_back(std::fabs(x * engine.number(-24, -1)));
        own.push_back(engine.near(x, bound.back()));
      }
      const float y = engine.sum_of_products(window.taps, own, contract.conv);
      const float got = engine.sigmoid_in_form(y, true, contract.silu);
      const Bounded want = conv(known_to_within(value, bound), window.taps, 1, contract);
      const Verdict verdict = within("conv", std::vector<float>{got}, want);
      ASSERT_TRUE(verdict.holds()) << verdict.detail;
      if (std::isnormal(got)) worst = std::max(worst, verdict.worst_ratio);
    }
  }
  std::cout << "worst error/bound of conv with a carried window: " << worst << "\n";
  EXPECT_GT(worst, 0.5);
}

TEST(Conv, ManyChannelsGiveWhatEachGivesAlone) {
  FloatEngine engine(any_f32_contract(), 3);
  const int64_t channels = 300;
  std::vector<float> window, taps;
  for (int64_t i = 0; i < 3 * channels; ++i) {
    window.push_back(engine.number(-3, 3));
    taps.push_back(engine.number(-3, 3));
  }
  const Bounded all = conv(exactly(window), taps, channels, any_f32_contract());
  for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
    const auto at = static_cast<std::ptrdiff_t>(3 * c);
    const std::vector<float> own(taps.begin() + at, taps.begin() + at + 3);
    const Bounded alone =
        conv(exactly({window[c], window[c + 300], window[c + 600]}), own, 1, any_f32_contract());
    ASSERT_EQ(all.value[c], alone.value[0]) << c;
    ASSERT_EQ(all.bound[c], alone.bound[0]) << c;
  }
}

}  // namespace
}  // namespace gdn
