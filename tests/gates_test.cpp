// The gates: literals worked out by hand, the thresholds of softplus, NaN and infinities, and
// attacks on the bounds with engines that err as far as their contract lets them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "invariants/harness/verdict.h"
#include "reference/operators.h"
#include "tests/float_engine.h"

namespace gdn {
namespace {

const float nan_f = std::numeric_limits<float>::quiet_NaN();

// Of one head, a + dt_bias taken as a.
Gates one_head(float a, float A_log, float b = 0, const Dialect& dialect = {},
               const Contract& contract = any_f32_contract(), float dt_bias = 0) {
  return gates(exactly({a}), exactly({b}), std::vector<float>{A_log}, std::vector<float>{dt_bias},
               dialect, contract);
}

double decay(float a, float A_log) { return std::exp(one_head(a, A_log).g.value[0]); }

Outcome outcome_of(float got, const Bounded& want) {
  return within("got", std::vector<float>{got}, want).outcome;
}

TEST(Gates, AnALogGivenAsMinusItsExponentialIsUsedAsItIs) {
  Dialect dialect;
  dialect.gate_input = Dialect::GateInput::raw_a_exponentiated;
  const Bounded g = one_head(0, -2, 0, dialect).g;
  EXPECT_NEAR(g.value[0], -2 * 0.6931471805599453, 1e-15);
  EXPECT_EQ(outcome_of(-1.3862944F, g), Outcome::holds);
}

// exp(100 - 200): e^-100 = 3.720076e-44, some 26 of the smallest float32.
TEST(Gates, AHugeALogWithATinySoftplusStaysFinite) {
  const Bounded g = one_head(-200, 100).g;
  EXPECT_NEAR(g.value[0], -3.720076e-44, 1e-50);
  EXPECT_EQ(decay(-200, 100), 1);
  EXPECT_LT(g.bound[0], 1e-43);
  EXPECT_EQ(outcome_of(nan_f, g), Outcome::fails);
  EXPECT_EQ(outcome_of(-1, g), Outcome::fails);
  EXPECT_EQ(outcome_of(-HUGE_VALF, g), Outcome::undecided) << "exp(A_log) softplus was declared";
  Contract sum_form = any_f32_contract();
  sum_form.gate_sum_form_below = -20;
  const Bounded by_sum = one_head(-200, 100, 0, {}, sum_form).g;
  EXPECT_EQ(outcome_of(-HUGE_VALF, by_sum), Outcome::fails);
  EXPECT_EQ(outcome_of(-3.720076e-44F, by_sum), Outcome::holds);
}

struct Threshold {
  float x;
  double softplus;
};

// softplus(x) = x + log(1 + e^-x), from e^-100, e^-20, ... by hand.
TEST(Gates, SoftplusIsExactAcrossItsThresholds) {
  const Threshold table[] = {{-100, 3.720075976020836e-44},
                             {-20, 2.0611536203e-9},
                             {-17, 4.1399376330898e-8},
                             {-1, 0.31326168751822286},
                             {0, 0.6931471805599453},
                             {20, 20 + 2.0611536203e-9},
                             {88, 88},
                             {89, 89},
                             {1e4F, 1e4}};
  for (const auto& [x, softplus] : table) {
    EXPECT_NEAR(-one_head(x, 0).g.value[0] / softplus, 1, 1e-10) << "x = " << x;
  }
}

// What engines do about softplus, in plain float32.
float with_thresholds(float x) {
  return x > 20 ? x : x < -20 ? std::exp(x) : std::log1p(std::exp(x));
}
float with_upper_threshold(float x) { return x > 20 ? x : std::log1p(std::exp(x)); }
float by_plain_log(float x) { return x <= 20 ? std::log(1 + std::exp(x)) : x; }
float blended(float x) {
  const float use = x <= 20 ? 1 : 0;
  return use * std::log(1 + std::exp(x)) + (1 - use) * x;
}

const float around_thresholds[] = {-100,
                                   -20,
                                   -17,
                                   -16.6F,
                                   -1,
                                   0,
                                   19.99F,
                                   20,
                                   20.01F,
                                   88,
                                   89,
                                   1e4F,
                                   std::nextafter(-20.0F, -30.0F),
                                   std::nextafter(-20.0F, 0.0F),
                                   std::nextafter(20.0F, 30.0F),
                                   std::nextafter(20.0F, 0.0F)};

TEST(Gates, EveryUsualSoftplusIsWithinTheBound) {
  for (const float x : around_thresholds) {
    for (const float A_log : {-5.0F, 0.0F, 2.0F}) {
      const Bounded log1p_form = one_head(x, A_log, 0, {}, torch_cpu_contract()).g;
      const float amplitude = -std::exp(A_log);
      EXPECT_EQ(outcome_of(amplitude * with_thresholds(x), log1p_form), Outcome::holds) << x;
      EXPECT_EQ(outcome_of(amplitude * with_upper_threshold(x), log1p_form), Outcome::holds) << x;
      Dialect plain;
      plain.softplus = Dialect::Softplus::log_one_plus_exp;
      const Bounded plain_form = one_head(x, A_log, 0, plain, torch_cpu_contract()).g;
      EXPECT_EQ(outcome_of(amplitude * by_plain_log(x), plain_form), Outcome::holds) << x;
    }
  }
}

TEST(Gates, ABlendOfBothBranchesIsNotANumberAndFails) {
  EXPECT_EQ(outcome_of(-blended(100), one_head(100, 0).g), Outcome::fails);
}

// log(1 + e^-17) is 0 in float32: right for the plain form alone.
TEST(Gates, ALostSoftplusIsRightForThePlainLogarithmAlone) {
  const Bounded log1p_form = one_head(-17, 0, 0, {}, torch_cpu_contract()).g;
  EXPECT_EQ(outcome_of(-0.0F, log1p_form), Outcome::fails);
  Dialect plain;
  plain.softplus = Dialect::Softplus::log_one_plus_exp;
  EXPECT_EQ(outcome_of(-0.0F, one_head(-17, 0, 0, plain, torch_cpu_contract()).g), Outcome::holds);
}

TEST(Gates, NanAndInfinitiesHaveAStatedResult) {
  EXPECT_EQ(outcome_of(nan_f, one_head(nan_f, 0).g), Outcome::holds);
  EXPECT_EQ(outcome_of(0, one_head(nan_f, 0).g), Outcome::fails);
  EXPECT_EQ(outcome_of(-HUGE_VALF, one_head(HUGE_VALF, 0).g), Outcome::holds);
  EXPECT_EQ(outcome_of(nan_f, one_head(HUGE_VALF, 0).g), Outcome::fails);
  EXPECT_EQ(outcome_of(nan_f, one_head(HUGE_VALF, -200).g), Outcome::holds) << "0 times infinity";
  EXPECT_EQ(outcome_of(-0.0F, one_head(-HUGE_VALF, 0).g), Outcome::holds);
  EXPECT_EQ(outcome_of(nan_f, one_head(-HUGE_VALF, 100).g), Outcome::fails);
  EXPECT_EQ(outcome_of(-HUGE_VALF, one_head(0, HUGE_VALF).g), Outcome::holds);
  EXPECT_EQ(outcome_of(-0.0F, one_head(0, -HUGE_VALF).g), Outcome::holds);
  EXPECT_EQ(outcome_of(1, one_head(0, 0, HUGE_VALF).beta), Outcome::holds);
  EXPECT_EQ(outcome_of(0, one_head(0, 0, -HUGE_VALF).beta), Outcome::holds);
  EXPECT_EQ(outcome_of(nan_f, one_head(0, 0, nan_f).beta), Outcome::holds);
}

TEST(Gates, GThatOverflowsIsMinusInfinity) {
  EXPECT_EQ(outcome_of(-HUGE_VALF, one_head(1, 1e30F).g), Outcome::holds);
  EXPECT_EQ(outcome_of(-HUGE_VALF, one_head(1e4F, 88).g), Outcome::holds);  // e^88 1e4 = 1.7e42
  EXPECT_EQ(outcome_of(-3e38F, one_head(1e4F, 88).g), Outcome::fails);
}

TEST(Gates, BetaIsTheSigmoidOfB) {
  EXPECT_EQ(one_head(0, 0, 0).beta.value[0], 0.5);
  EXPECT_NEAR(one_head(0, 0, 2).beta.value[0], 0.8807970779778823, 1e-15);
  EXPECT_NEAR(one_head(0, 0, -30).beta.value[0] / 9.357622968839299e-14, 1, 1e-14);
}

// sigmoid(2) = 0.880797; its neighbours in bf16, 8 bits, are 225/256 = 0.87890625 and
// 226/256 = 0.8828125, their middle is 0.880859, and below that the lower one is right.
TEST(Gates, BetaRoundedToBf16IsJudgedByItsRounding) {
  Dialect dialect;
  dialect.beta = Dialect::Beta::bf16;
  const Bounded beta = one_head(0, 0, 2, dialect).beta;
  EXPECT_EQ(outcome_of(0.87890625F, beta), Outcome::holds);
  EXPECT_EQ(outcome_of(0.8828125F, beta), Outcome::fails);
  EXPECT_EQ(outcome_of(0.8807971F, beta), Outcome::fails) << "not rounded at all";
}

// exp(89) overflows float32, and 1 / (1 + inf) is 0, though e^-89 = 2.2e-39 can be written.
TEST(Gates, BetaMayVanishWhereItsExponentialOverflowsInThoseFormsAlone) {
  Contract contract = any_f32_contract();
  contract.sigmoid = SigmoidForm::divide;
  EXPECT_EQ(outcome_of(0, one_head(0, 0, -89, {}, contract).beta), Outcome::holds);
  contract.sigmoid = SigmoidForm::exp_of_negative;
  EXPECT_EQ(outcome_of(0, one_head(0, 0, -89, {}, contract).beta), Outcome::fails);
}

// Softplus of an engine, with what its contract says.
float softplus_of(FloatEngine& engine, const Contract& contract, float x) {
  const bool thresholds = contract.softplus == SoftplusForm::log1p_thresholds;
  if (x > 20) return x;
  if (thresholds && x < -20 && engine.rng().range(0, 1) == 0) return engine.exp(x);
  return thresholds ? engine.log1p(engine.exp(x)) : engine.log(engine.add(1, engine.exp(x)));
}

// x = a + dt_bias, then g in either form.
float gate_of(FloatEngine& engine, const Contract& contract, float a, float dt_bias, float A_log) {
  const float x = engine.add(a, dt_bias);
  if (x < contract.gate_sum_form_below) return -engine.exp(engine.add(A_log, x));
  return engine.multiply(-engine.exp(A_log), softplus_of(engine, contract, x));
}

float gate_argument(FloatEngine& engine) {
  const double around[] = {-100, -20, -17, 0, 20, 88, 0, -70};
  const auto which = static_cast<size_t>(engine.rng().range(0, 9));
  if (which >= 8) return engine.number(-60, 6);
  return static_cast<float>(around[which] + engine.rng().signed_unit() * 4);
}

TEST(Gates, NoFloat32EngineLeavesTheBoundOfG) {
  double worst = 0;
  for (const Contract& contract : attacked_contracts()) {
    FloatEngine engine(contract, 1);
    for (int i = 0; i < 4000; ++i) {
      const float a = gate_argument(engine), dt_bias = i % 2 == 0 ? 0 : engine.number(-20, 4);
      const float A_log = engine.number(-10, i % 16 == 0 ? 7 : 3);
      const float got = gate_of(engine, contract, a, dt_bias, A_log);
      const Bounded want = one_head(a, A_log, 0, {}, contract, dt_bias).g;
      const Verdict verdict = within("g", std::vector<float>{got}, want);
      // exp(A_log) of this size overflows or, times a softplus that vanished, is NaN: that the
      // verdict is not green is right, and other tests say what it must be.
      const bool overflowed = std::isinf(got) || std::isnan(got);
      ASSERT_TRUE(verdict.holds() || (overflowed && A_log > 80))
          << verdict.detail << " a " << a << " dt " << dt_bias << " A_log " << A_log;
      if (verdict.holds() && std::isnormal(got)) worst = std::max(worst, verdict.worst_ratio);
    }
  }
  RecordProperty("worst_ratio", std::to_string(worst));
  std::cout << "worst error/bound of g: " << worst << "\n";
  EXPECT_GT(worst, 0.5) << "a bound that nothing comes near judges nothing";
}

TEST(Gates, NoFloat32EngineLeavesTheBoundOfAGivenDecay) {
  Dialect dialect;
  dialect.gate_input = Dialect::GateInput::raw_a_exponentiated;
  double worst = 0;
  for (Contract contract : attacked_contracts()) {
    contract.gate_sum_form_below = -infinity;  // there is no A_log to add
    FloatEngine engine(contract, 4);
    for (int i = 0; i < 1000; ++i) {
      const float a = gate_argument(engine), minus_decay = -std::fabs(engine.number(-135, 20));
      const float softplus = softplus_of(engine, contract, a);
      const float got = engine.multiply(minus_decay, softplus);
      const Bounded want = one_head(a, minus_decay, 0, dialect, contract).g;
      const Verdict verdict = within("g", std::vector<float>{got}, want);
      ASSERT_TRUE(verdict.holds()) << verdict.detail << " a " << a << " A " << minus_decay;
      if (std::isnormal(got)) worst = std::max(worst, verdict.worst_ratio);
    }
  }
  std::cout << "worst error/bound of g from a given decay: " << worst << "\n";
  EXPECT_GT(worst, 0.5);
}

TEST(Gates, NoFloat32EngineLeavesTheBoundOfBeta) {
  double worst = 0;
  for (const Contract& contract : attacked_contracts()) {
    FloatEngine engine(contract, 2);
    for (int i = 0; i < 6000; ++i) {
      const float b = i % 2 == 0 ? engine.number(-60, 7) : engine.rng().signed_unit() * 110;
      const float got = engine.sigmoid_in_form(b, false, contract.sigmoid);
      const Verdict verdict =
          within("beta", std::vector<float>{got}, one_head(0, 0, b, {}, contract).beta);
      ASSERT_TRUE(verdict.holds()) << verdict.detail << " b " << b;
      if (std::isnormal(got)) worst = std::max(worst, verdict.worst_ratio);
    }
  }
  RecordProperty("worst_ratio", std::to_string(worst));
  std::cout << "worst error/bound of beta: " << worst << "\n";
  EXPECT_GT(worst, 0.5) << "a bound that nothing comes near judges nothing";
}

TEST(Gates, WhatTheInputsCarryIsInTheBound) {
  double worst = 0;
  for (const Contract& contract : attacked_contracts()) {
    FloatEngine engine(contract, 3);
    for (int i = 0; i < 4000; ++i) {
      const double x = gate_argument(engine) + 1e-9, bound = std::fabs(engine.number(-40, 3));
      const float A_log = engine.number(-10, 2);
      const Bounded carried = known_to_within({x}, {bound});
      const Gates want =
          gates(carried, carried, std::vector<float>{A_log}, std::vector<float>{0}, {}, contract);
      const float own = engine.near(x, bound);
      if (std::fabs(own - x) > bound) continue;  // no float32 number that close
      const Verdict verdict = both(
          within("g", std::vector<float>{gate_of(engine, contract, own, 0, A_log)}, want.g),
          within("beta", std::vector<float>{engine.sigmoid_in_form(own, false, contract.sigmoid)},
                 want.beta));
      ASSERT_TRUE(verdict.holds()) << verdict.detail << " x " << x << " +- " << bound;
      worst = std::max(worst, verdict.worst_ratio);
    }
  }
  std::cout << "worst error/bound with carried inputs: " << worst << "\n";
  EXPECT_GT(worst, 0.5);
}

TEST(Gates, OfInputsThatAreNotKnownNothingIsDecided) {
  const Bounded unknown = known_to_within({0}, {infinity});
  const Gates both_gates =
      gates(unknown, unknown, std::vector<float>{0}, std::vector<float>{0}, {}, any_f32_contract());
  EXPECT_EQ(outcome_of(-1, both_gates.g), Outcome::undecided);
  EXPECT_EQ(outcome_of(0.5F, both_gates.beta), Outcome::undecided);
}

}  // namespace
}  // namespace gdn
