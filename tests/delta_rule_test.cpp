// The delta rule of one token against numbers worked out by hand, and its exact form against itself
// by another road and in other arithmetic.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "invariants/harness/verdict.h"
#include "reference/delta_rule_exact.h"
#include "reference/double_double.h"
#include "reference/real.h"
#include "reference/recurrence.h"
#include "reference/rng.h"

namespace gdn {
namespace {

constexpr float float_infinity = std::numeric_limits<float>::infinity();
constexpr float float_nan = std::numeric_limits<float>::quiet_NaN();
const float log_half = static_cast<float>(std::log(0.5));

Shape shape_of(int64_t kh, int64_t vh, int64_t kd, int64_t vd) {
  Shape shape;
  shape.num_k_heads = kh;
  shape.num_v_heads = vh;
  shape.head_k_dim = kd;
  shape.head_v_dim = vd;
  return shape;
}

// The contract of an engine that makes as few errors as float32 can.
Contract careful() {
  Contract contract = any_f32_contract();
  contract.functions.exp_ulp = 0.5;
  contract.decay = DecayForm::first;
  return contract;
}

TokenInputs token(std::vector<float> q, std::vector<float> k, std::vector<float> v,
                  std::vector<float> g, std::vector<float> beta) {
  return {exactly(q), exactly(k), exactly(v), exactly(g), {}, exactly(beta)};
}

// Holds what was worked out by hand, and not what lies a hundredth away: a bound that is too wide
// to tell would show nothing.
void expect_near(const Bounded& got, const std::vector<double>& by_hand) {
  ASSERT_EQ(got.size(), by_hand.size());
  for (size_t i = 0; i < by_hand.size(); ++i) {
    // The literals are of float32 inputs such as fl(ln 1/2), off by u of it, and so is the result.
    EXPECT_NEAR(got.value[i], by_hand[i], 2 * unit_roundoff * (1 + std::abs(by_hand[i]))) << i;
    EXPECT_LT(got.bound[i], 0.01) << i;
  }
}

struct Both {
  Bounded local_state, running_state, running_output;
};

Both both_forms(const std::vector<float>& S, const TokenInputs& in, const Shape& shape,
                const Dialect& dialect = {}) {
  RunningRecurrence running(shape, dialect, careful(), S);
  const std::vector<Bounded> o = running.call({in});
  return {delta_rule_state(S, in, shape, dialect, careful()), running.state(), o.front()};
}

TEST(DeltaRule, ErrorIsTakenAfterTheDecay) {
  // t = 1/2 leaves u = 1/2, d = -1/2, S = 0. Taken before the decay: d = -1, S = -1/2.
  const Both got = both_forms({1}, token({1}, {1}, {0}, {log_half}, {1}), shape_of(1, 1, 1, 1));
  expect_near(got.local_state, {0});
  expect_near(got.running_state, {0});
  expect_near(got.running_output, {0});
}

TEST(DeltaRule, AFoldedProductMayOverflowWhereTheDecayedOneDoesNot) {
  // S k = 2^140 has no float32; decayed by e^-100, about 2^-144, it is below 1. An engine that may
  // take alpha out of the sum is not to blame for the infinity, one that decays S first is.
  const std::vector<float> S = {0x1p100F};
  const TokenInputs in = token({1}, {0x1p40F}, {0}, {-100}, {0.5F});
  const Shape shape = shape_of(1, 1, 1, 1);
  for (const DecayForm form : {DecayForm::first, DecayForm::folded, DecayForm::any}) {
    Contract contract = careful();
    contract.decay = form;
    RunningRecurrence running(shape, {}, contract, S);
    running.call({in});
    const bool decided = form == DecayForm::first;
    EXPECT_EQ(std::isfinite(delta_rule_state(S, in, shape, {}, contract).bound[0]), decided);
    EXPECT_EQ(std::isfinite(running.state().bound[0]), decided);
  }
}

TEST(DeltaRule, TheSameKeyTwiceOverwritesRatherThanAdds) {
  const Shape shape = shape_of(1, 1, 2, 1);
  RunningRecurrence running(shape, {}, careful());
  running.call({token({1, 0}, {1, 0}, {1}, {0}, {1})});
  expect_near(running.call({token({1, 0}, {1, 0}, {5}, {0}, {1})}).front(), {5});
  expect_near(delta_rule_state({1, 0}, token({1, 0}, {1, 0}, {5}, {0}, {1}), shape, {}, careful()),
              {5, 0});
}

TEST(DeltaRule, GateIsALogarithmUnlessTheDialectSaysLinear) {
  const Shape shape = shape_of(1, 1, 1, 1);
  const Both log = both_forms({1}, token({1}, {1}, {0}, {log_half}, {0}), shape);
  expect_near(log.local_state, {0.5});
  expect_near(log.running_output, {0.5});
  Dialect dialect;
  dialect.gate_input = Dialect::GateInput::linear_alpha;
  const Both linear = both_forms({1}, token({1}, {1}, {0}, {0.5}, {0}), shape, dialect);
  expect_near(linear.local_state, {0.5});
  expect_near(linear.running_output, {0.5});
}

TEST(DeltaRule, EachValueHeadUsesTheKeyHeadOfItsMap) {
  // From S = 0 with beta = 1: o = v (q k), which is 1 for key head 0 and 1/2 for key head 1.
  for (const int64_t ratio : {2, 3}) {
    const Shape shape = shape_of(2, 2 * ratio, 1, 1);
    std::vector<float> v, ones;
    std::vector<double> grouped, tiled;
    for (int64_t head = 0; head < 2 * ratio; ++head) {
      v.push_back(static_cast<float>(head + 1));
      ones.push_back(1);
      grouped.push_back(static_cast<double>(head + 1) * (head < ratio ? 1 : 0.5));
      tiled.push_back(static_cast<double>(head + 1) * (head % 2 == 0 ? 1 : 0.5));
    }
    // k and q differ: with k = q both maps would give k k.
    const TokenInputs in = token({0.5, 2}, {2, 0.25}, v, std::vector<float>(v.size()), ones);
    const std::vector<float> zeros(v.size());
    Dialect dialect;
    expect_near(both_forms(zeros, in, shape, dialect).running_output, grouped);
    dialect.head_map = Dialect::HeadMap::tiled;
    expect_near(both_forms(zeros, in, shape, dialect).running_output, tiled);
  }
}

TEST(DeltaRule, StateIsReadByKeyRowsAndValueColumns) {
  // S zero but S[k=0][v=1] = 1 and q = e0: o = e1. Square, wide and tall.
  for (const auto& [kd, vd] : {std::pair{2, 2}, std::pair{2, 3}, std::pair{3, 2}}) {
    const Shape shape = shape_of(1, 1, kd, vd);
    std::vector<float> S(static_cast<size_t>(kd * vd)), q(static_cast<size_t>(kd));
    std::vector<double> e1(static_cast<size_t>(vd));
    S[1] = 1, q[0] = 1, e1[1] = 1;
    expect_near(delta_rule_output(S, exactly(q), shape, {}, careful()), e1);
  }
}

TEST(DeltaRule, OutputReadsTheUpdatedState) {
  // From S = 0 with beta = 1: o = v (k q) = 3 (0.5 0.25 + 2 1) = 6.375; the old state gives 0.
  const TokenInputs in = token({0.25, 1}, {0.5, 2}, {3}, {0}, {1});
  const Both got = both_forms({0, 0}, in, shape_of(1, 1, 2, 1));
  expect_near(got.running_output, {6.375});
  expect_near(got.local_state, {1.5, 6});
}

TEST(DeltaRule, ASlowDecayIsNotLostOver4096Tokens) {
  // 0.9985^4096 = e^(4096 ln 0.9985) = 0.0021364; held in bf16 the decay would be 1.
  const Shape shape = shape_of(1, 1, 1, 1);
  const float g = static_cast<float>(std::log(0.9985));
  RunningRecurrence running(shape, {}, careful(), {1});
  const std::vector<TokenInputs> tokens(4096, token({1}, {1}, {0}, {g}, {0}));
  EXPECT_NEAR(running.call(tokens).back().value[0], 0.0021364, 0.00000005);
}

TEST(DeltaRule, StateNeverGrowsUnderUnitKeysAndNoValue) {
  const size_t kd = 8, vd = 2;
  Rng rng(7);
  std::vector<float> S(kd * vd);
  for (float& s : S) s = rng.signed_unit();
  RunningRecurrence running(shape_of(1, 1, 8, 2), {}, careful(), S);
  double before = infinity;
  for (int t = 0; t < 30; ++t) {
    std::vector<float> k(kd);
    // Each |k_i| is below 1/sqrt(8), so |k| is below 1.
    for (float& x : k) x = rng.signed_unit() * 0.35F;
    running.call({token(k, k, {0, 0}, {0}, {rng.unit()})});
    double squares = 0;
    for (const double s : running.state().value) squares += s * s;
    EXPECT_LE(squares, before);
    before = squares;
  }
}

TEST(DeltaRule, DecaysPerHeadAndPerChannelMultiply) {
  // Rows decay by 1/2 1/2 and by 1/2 1; beta = 0.
  TokenInputs in = token({1, 1}, {1, 0}, {0}, {log_half}, {0});
  in.gk = exactly({log_half, 0});
  expect_near(both_forms({4, 8}, in, shape_of(1, 1, 2, 1)).local_state, {1, 4});
  expect_near(both_forms({4, 8}, in, shape_of(1, 1, 2, 1)).running_output, {5});
}

TEST(DeltaRule, OutputIsScaledWhereTheDialectSaysSo) {
  Dialect dialect;
  dialect.scale_on = Dialect::ScaleOn::output;
  const std::vector<float> S{3, 5, 1, 1};
  const Bounded q = exactly({1, 1, 1, 1});
  // 1/sqrt(4) of 3 + 5 + 1 + 1.
  expect_near(delta_rule_output(S, q, shape_of(1, 1, 4, 1), dialect, careful()), {5});
  dialect.scale = 0.25F;
  expect_near(delta_rule_output(S, q, shape_of(1, 1, 4, 1), dialect, careful()), {2.5});
}

TEST(DeltaRule, StorageFormatsAreOfStateAndOutput) {
  Dialect dialect;
  dialect.state_storage = Format::bf16;
  dialect.output_storage = Format::f16;
  const TokenInputs in = token({1}, {1}, {1}, {0}, {1});
  const Both got = both_forms({0}, in, shape_of(1, 1, 1, 1), dialect);
  EXPECT_EQ(got.local_state.stored, Format::bf16);
  EXPECT_EQ(got.running_state.stored, Format::bf16);
  EXPECT_EQ(got.running_output.stored, Format::f16);
  // What is stored in bf16 was rounded after the output was taken: half a step of it, 2^-8, counts.
  const Bounded o = delta_rule_output({1}, exactly({1}), shape_of(1, 1, 1, 1), dialect, careful());
  EXPECT_GE(o.bound[0], 0x1p-8);
  EXPECT_LE(o.bound[0], 0x1p-7);
}

TEST(DeltaRule, ZeroTimesAnythingIsExact) {
  const Shape shape = shape_of(1, 1, 2, 2);
  const std::vector<float> S{1, -2, 3, 4};
  const TokenInputs in = token({0, 0}, {0, 0}, {1e30F, -1e30F}, {0}, {0});
  const Both got = both_forms(S, in, shape);
  // exp(0) is off by at most 1 u here, its product with S and the sum by u each: below 4 u |S|.
  for (size_t i = 0; i < S.size(); ++i) {
    EXPECT_EQ(got.local_state.value[i], S[i]);
    EXPECT_LE(got.local_state.bound[i], 4 * unit_roundoff * std::abs(S[i]));
  }
  expect_near(got.running_output, {0, 0});
}

// Special elements of Bounded.
bool is_nan_demanded(const Bounded& x, size_t i) {
  return std::isnan(x.value[i]) && x.bound[i] == 0;
}
bool is_non_finite_demanded(const Bounded& x, size_t i) {
  return std::isnan(x.value[i]) && std::isinf(x.bound[i]);
}
bool is_ordinary_number(const Bounded& x, size_t i) {
  return std::isfinite(x.value[i]) && std::isfinite(x.bound[i]);
}

TEST(DeltaRule, ANanFallsOnItsColumnOrItsHead) {
  const Shape shape = shape_of(1, 1, 2, 2);
  const std::vector<float> S{1, 1, 1, 1};
  const Both of_v = both_forms(S, token({1, 0}, {0, 1}, {float_nan, 1}, {0}, {0}), shape);
  for (const size_t row : {0, 1}) {
    EXPECT_TRUE(is_nan_demanded(of_v.local_state, 2 * row));
    EXPECT_TRUE(is_nan_demanded(of_v.running_state, 2 * row));
    EXPECT_TRUE(is_ordinary_number(of_v.local_state, 2 * row + 1));
    EXPECT_TRUE(is_ordinary_number(of_v.running_state, 2 * row + 1));
  }
  const Both of_k = both_forms(S, token({1, 0}, {float_nan, 1}, {1, 1}, {0}, {0}), shape);
  for (size_t i = 0; i < 4; ++i) EXPECT_TRUE(is_nan_demanded(of_k.local_state, i));
  const Both of_q = both_forms(S, token({float_nan, 0}, {0, 1}, {1, 1}, {0}, {1}), shape);
  EXPECT_TRUE(is_nan_demanded(of_q.running_output, 0));
  EXPECT_TRUE(is_ordinary_number(of_q.running_state, 0));
}

TEST(DeltaRule, AnInfinityGivesSomethingNotFinite) {
  const Shape shape = shape_of(1, 1, 1, 2);
  const TokenInputs in = token({1}, {1}, {0, 0}, {log_half}, {1});
  const Both got = both_forms({float_infinity, 1}, in, shape);
  EXPECT_TRUE(is_non_finite_demanded(got.local_state, 0));
  EXPECT_TRUE(is_non_finite_demanded(got.running_output, 0));
  EXPECT_TRUE(is_ordinary_number(got.local_state, 1));
  // A gate that is shut makes it NaN: 0 inf.
  const TokenInputs shut = token({1}, {1}, {0, 0}, {-float_infinity}, {1});
  const Both none = both_forms({float_infinity, 1}, shut, shape);
  EXPECT_TRUE(is_nan_demanded(none.local_state, 0));
  expect_near(Bounded{{none.local_state.value[1]}, {none.local_state.bound[1]}, Format::f32, {}},
              {0});
}

TEST(DeltaRule, AGateThatIsAnInfinityOrNanIsUndecided) {
  TokenInputs in = token({1}, {1}, {2}, {0}, {1});
  in.g.value[0] = std::numeric_limits<double>::quiet_NaN();
  in.g.bound.assign(1, infinity);
  const Both got = both_forms({1}, in, shape_of(1, 1, 1, 1));
  // -infinity shuts it, and the state is then v: a finite number and NaN are both right.
  EXPECT_TRUE(std::isfinite(got.running_state.value[0]) && std::isinf(got.running_state.bound[0]));
  EXPECT_TRUE(std::isfinite(got.local_state.value[0]) && std::isinf(got.local_state.bound[0]));
}

TEST(DeltaRule, WhatMayOverflowIsUndecided) {
  const Shape shape = shape_of(1, 1, 1, 1);
  const Both got = both_forms({3e38F}, token({1}, {1}, {-3e38F}, {0}, {1}), shape);
  EXPECT_TRUE(std::isfinite(got.local_state.value[0]));
  EXPECT_TRUE(std::isinf(got.local_state.bound[0]));
  EXPECT_TRUE(std::isinf(got.running_state.bound[0]));
  const Both gate = both_forms({1}, token({1}, {1}, {0}, {100}, {1}), shape);
  EXPECT_TRUE(std::isinf(gate.local_state.bound[0]));
}

template <class Number>
std::vector<exact::Token<Number>> exact_tokens(size_t count, size_t kd, size_t vd) {
  Rng rng(11);
  std::vector<exact::Token<Number>> tokens;
  for (size_t t = 0; t < count; ++t) {
    exact::Token<Number> one;
    for (size_t i = 0; i < kd; ++i) one.q.push_back(Number(rng.signed_unit()));
    for (size_t i = 0; i < kd; ++i) one.k.push_back(Number(rng.signed_unit()) / 2);
    for (size_t j = 0; j < vd; ++j) one.v.push_back(Number(rng.signed_unit()));
    one.g = Number(-rng.unit()) / 8;
    one.beta = Number(rng.unit());
    tokens.push_back(one);
  }
  return tokens;
}

template <class Number>
struct ExactRun {
  std::vector<Number> S;
  std::vector<std::vector<Number>> o;
};

constexpr size_t exact_kd = 5, exact_vd = 3, exact_count = 64;

template <class Number>
ExactRun<Number> exact_run(bool in_a_chunk) {
  ExactRun<Number> run;
  for (size_t i = 0; i < exact_kd * exact_vd; ++i) run.S.push_back(Number(static_cast<int>(i)) - 7);
  const auto tokens = exact_tokens<Number>(exact_count, exact_kd, exact_vd);
  run.o = in_a_chunk ? exact::chunked(run.S, tokens) : exact::token_loop(run.S, tokens);
  return run;
}

// The largest difference of two runs, against the largest number in them.
template <class One, class Two>
double apart(const ExactRun<One>& one, const ExactRun<Two>& two) {
  Real100 difference = 0, largest = 0;
  const auto compare = [&](const One& a, const Two& b) {
    difference = std::max(difference, Real100(abs(Real100(Real100(a) - Real100(b)))));
    largest = std::max(largest, Real100(abs(Real100(a))));
  };
  for (size_t i = 0; i < one.S.size(); ++i) compare(one.S[i], two.S[i]);
  for (size_t t = 0; t < one.o.size(); ++t) {
    for (size_t j = 0; j < one.o[t].size(); ++j) compare(one.o[t][j], two.o[t][j]);
  }
  return Real100(difference / largest).convert_to<double>();
}

TEST(DeltaRuleExact, ChunkedFormAgreesWithTheTokenLoopTo40Digits) {
  EXPECT_LT(apart(exact_run<Real>(true), exact_run<Real>(false)), 1e-40);
}

TEST(DeltaRuleExact, FiftyDigitsAgreeWithAHundred) {
  // 64 tokens of a contraction, some 50 roundings each: 10^-50 grows to less than 10^-46.
  const double difference = apart(exact_run<Real>(false), exact_run<Real100>(false));
  EXPECT_LT(difference, 1e-46);
  EXPECT_GT(difference, 0);
}

TEST(DeltaRuleExact, MpfrAgreesWithCppBinFloat) {
  EXPECT_LT(apart(exact_run<Real>(false), exact_run<RealBinary>(false)), 1e-46);
}

}  // namespace
}  // namespace gdn
