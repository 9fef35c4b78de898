// Cases of which some elements are left open: a regression has to hold whole, and these cannot.
// Which elements those are is worked out from the formulas, and no engine is blamed for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "invariants/harness/invariant.h"
#include "tests/opened_engine.h"

namespace gdn {
namespace {

using ::testing::ElementsAre;

// exp(A_log) is infinite in the second head and softplus may underflow: g is -infinity or NaN. The
// first shuts the gate and leaves a finite state, which was held to be wrong once.
constexpr const char* gate_that_may_be_shut =
    "deltaproof-case 1\nsubject layer\nseed 1\nshape hidden_size=2 num_k_heads=1 head_k_dim=1 "
    "num_v_heads=2 head_v_dim=1 conv_kernel=1 num_layers=1 rms_norm_eps=1e-06 l2norm_eps=1e-06\n"
    "dialect deltaproof\ntokens 1\nrecipe input_exponent=16\nnumbers A_log 00000000 7f800000\n";
// The sum of two squares of 2^70 and more overflows: a plain norm gives 0 for each element, and an
// engine that scales first the right quotient.
constexpr const char* overflowing_keys =
    "deltaproof-case 1\nsubject layer\nseed 270068337\nshape hidden_size=8 num_k_heads=1 "
    "head_k_dim=3 num_v_heads=2 head_v_dim=3 conv_kernel=2 num_layers=1 rms_norm_eps=1e-06 "
    "l2norm_eps=1e-06\ndialect deltaproof\ntokens 2\nrecipe pattern=any_finite "
    "weight_pattern=equal input_exponent=70 horizon_tokens=100 zero_16ths=8 A_log=89\n";
// The same in the gated norm: head 0 has o = (1e30, 1) and z = (infinity, 1).
constexpr const char* overflowing_head =
    "deltaproof-case 1\nsubject gated_norm\nseed 1\nshape hidden_size=1 num_k_heads=1 "
    "head_k_dim=1 num_v_heads=1 head_v_dim=2 conv_kernel=1 num_layers=1 rms_norm_eps=1e-06 "
    "l2norm_eps=1e-06\ndialect deltaproof\ntokens 0\nnumbers o 7149f2ca 3f800000\n"
    "numbers z 7f800000 3f800000\n";

// S decays by exp(g) and then by exp(gk), e^50 and e^-50: 1e30 times the first overflows, times
// both it does not, and an engine that multiplies by one after the other is left with infinity.
constexpr const char* overflow_between_two_decays =
    "deltaproof-case 1\nsubject recurrent\nseed 202\nshape hidden_size=1 num_k_heads=1 "
    "head_k_dim=1 "
    "num_v_heads=1 head_v_dim=1 conv_kernel=1 num_layers=1 rms_norm_eps=1e-06 l2norm_eps=1e-06\n"
    "dialect deltaproof qk_norm=none scale_on=none gate_input=log_g decay=second_scalar\n"
    "tokens 1\nnumbers S 7149f2ca\nnumbers g 42480000\nnumbers gk c2480000\n";
// gk is the float32 above ln 2^128: exp(gk) overflows by itself, exp(g + gk) does not.
constexpr const char* overflow_of_the_second_decay =
    "deltaproof-case 1\nsubject recurrent\nseed 202\nshape hidden_size=1 num_k_heads=1 "
    "head_k_dim=1 "
    "num_v_heads=1 head_v_dim=1 conv_kernel=1 num_layers=1 rms_norm_eps=1e-06 l2norm_eps=1e-06\n"
    "dialect deltaproof qk_norm=none scale_on=none gate_input=log_g decay=second_scalar\n"
    "tokens 1\nnumbers gk 42b17218\n";

Case case_of(const char* text) {
  std::string why;
  const std::optional<Case> c = parse_case(text, &why);
  EXPECT_TRUE(c.has_value()) << why;
  return c.value_or(Case{});
}

void note(const std::string& where, const Bounded& want, std::vector<std::string>& open) {
  for (size_t i = 0; i < want.size(); ++i) {
    const bool number = std::isfinite(want.value[i]);
    if (number && std::isinf(want.bound_of(i))) {
      open.push_back(where + "[" + std::to_string(i) + "] may be anything");
    }
  }
  for (const Tolerated& one : want.tolerated) {
    open.push_back(where + "[" + std::to_string(one.index) + "] may be " +
                   std::to_string(static_cast<int>(one.result)) + ": " + one.why);
  }
}

// What the reference leaves open of all that the case reads, in order.
std::vector<std::string> left_open(const Case& c, const std::string& engine) {
  std::string why;
  const std::optional<EngineSource> source = find_engine(engine, &why);
  if (!source) return {why};
  const Lab lab(*source);
  std::vector<std::string> open;
  for (const CallExpectation& call : lab.expect(c).calls) {
    for (const auto& [tensor, want] : call.reads) note(std::string(name_of(tensor)), want, open);
    for (const auto& [name, want] : call.arrays) note(name, want, open);
  }
  return open;
}

ON_EVERY_ENGINE(ToleratedResults);

// What is open in the second head is open in all that comes after it, and no more.
TEST_P(ToleratedResults, AreTheseAndNoOthers) {
  const auto stepped = [](const char* text) {
    const Case c = case_of(text);
    return c.with_calls(stepped_calls(c));
  };
  EXPECT_THAT(
      left_open(stepped(gate_that_may_be_shut), GetParam()),
      ElementsAre("O[1] may be anything", "ONORM[1] may be anything", "OUT[0] may be anything",
                  "OUT[1] may be anything", "S[1] may be anything"));
  // Those of the first token: the second has no such numbers, and S has a bound that reaches 0.
  EXPECT_THAT(left_open(stepped(overflowing_keys), GetParam()),
              ElementsAre("Q[0] may be 0: the sum of squares overflows",
                          "Q[1] may be 0: the sum of squares overflows",
                          "Q[2] may be 0: the sum of squares overflows",
                          "K[0] may be 0: the sum of squares overflows",
                          "K[1] may be 0: the sum of squares overflows",
                          "K[2] may be 0: the sum of squares overflows"));
  // The first element is NaN or infinite in either way of computing it.
  EXPECT_THAT(left_open(case_of(overflowing_head), GetParam()),
              ElementsAre("y[1] may be 0: the sum of squares overflows"));
  // The one element of S, and o, which is read from it.
  for (const char* text : {overflow_between_two_decays, overflow_of_the_second_decay}) {
    EXPECT_THAT(left_open(case_of(text), GetParam()),
                ElementsAre("S[0] may be anything", "o[0] may be anything"));
  }
}

TEST_P(ToleratedResults, AreNotHeldAgainstIt) {
  for (const char* text : {gate_that_may_be_shut, overflowing_keys, overflowing_head,
                           overflow_between_two_decays, overflow_of_the_second_decay}) {
    const Case c = case_of(text);
    std::string why;
    const std::optional<EngineSource> engine = find_engine(GetParam(), &why);
    ASSERT_TRUE(engine.has_value()) << why;
    const Lab lab(*engine);
    for (const char* name : {"layer_within_bound", "operators_within_bound"}) {
      const Verdict verdict = check(*invariant_named(name), c, lab);
      const bool is_asked = invariant_named(name)->claim.applies(c);
      EXPECT_EQ(verdict.elements > 0, is_asked) << name << ": " << verdict.detail;
      EXPECT_LE(verdict.outcome, Outcome::undecided) << name << ": " << verdict.detail << text;
    }
  }
}

}  // namespace
}  // namespace gdn
