// Where an engine leaves its budget first: each operator's fault is found at that operator, on a
// layer and on its own; a sound engine leaves it nowhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ci/triage/diagnose.h"
#include "ci/triage/localise.h"
#include "ci/triage/smallest.h"

namespace gdn {
namespace {

using testing::IsEmpty;

Lab lab_of(const std::string& engine) {
  std::string why;
  std::optional<EngineSource> found = find_engine(engine, &why);
  EXPECT_TRUE(found) << why;
  return Lab(*found);
}

Case a_layer() {
  Case c;
  c.seed = 5;
  c.shape = {.hidden_size = 64,
             .num_k_heads = 2,
             .head_k_dim = 8,
             .num_v_heads = 4,
             .head_v_dim = 8,
             .conv_kernel = 4,
             .num_layers = 2};
  c.tokens = 3;
  return c;
}

struct Planted {
  const char* mutant;
  Operator op;
  const char* tensor;
  int64_t token;
};

class APlantedFault : public testing::TestWithParam<Planted> {};

TEST_P(APlantedFault, IsFoundAtItsOperatorAndToken) {
  const Planted& planted = GetParam();
  const Lab lab = lab_of(std::string("mutant:") + planted.mutant);
  const Localised localised = localise(a_layer(), lab, true);
  ASSERT_TRUE(localised.first);
  EXPECT_EQ(name_of(localised.first->op), name_of(planted.op));
  EXPECT_EQ(localised.first->tensor, planted.tensor);
  EXPECT_EQ(localised.first->token, planted.token);
  EXPECT_FALSE(localised.first->right_alone);
  EXPECT_EQ(localised.first->run.tokens.size(), 3U);
}

INSTANTIATE_TEST_SUITE_P(
    Triage, APlantedFault,
    testing::Values(Planted{"beta_from_a", Operator::gates, "BETA", 0},
                    Planted{"raw_a_log", Operator::gates, "G", 0},
                    Planted{"conv_taps_flipped", Operator::conv, "CONV", 0},
                    Planted{"conv_history_stores_output", Operator::conv, "HIST", 0},
                    Planted{"q_scale_twice", Operator::qk_norm, "Q", 0},
                    Planted{"keys_not_normalised", Operator::qk_norm, "K", 0},
                    // The state before the first token is zero: nothing has decayed yet.
                    Planted{"error_before_decay", Operator::delta_rule, "S", 1},
                    Planted{"output_from_the_old_state", Operator::delta_rule, "O", 0},
                    Planted{"gate_before_norm", Operator::gated_norm, "ONORM", 0},
                    Planted{"bias_in_the_projection", Operator::in_proj, "QKV", 0}),
    [](const auto& planted) { return std::string(planted.param.mutant); });

TEST(Localise, FindsNothingInASoundEngine) {
  for (const char* engine : {"twin", "simt"}) {
    const Lab lab = lab_of(engine);
    const Localised localised = localise(a_layer(), lab, false);
    EXPECT_TRUE(localised.served.holds());
    EXPECT_FALSE(localised.first) << engine;
  }
}

TEST(Localise, TellsTheDecoderFromTheProduct) {
  Case c = a_layer();
  c.weights = Weights::q4;
  c.shape.head_v_dim = 16;
  const Localised decoder = localise(c, lab_of("mutant:nibbles_interleaved"), true);
  ASSERT_TRUE(decoder.first) << decoder.served.detail;
  EXPECT_EQ(name_of(decoder.first->op), "dequant");
}

// Its step takes the first token twice; its delta rule is right on what it was fed.
TEST(Localise, TellsAnOperatorFromTheCallsThatLeadToIt) {
  const Lab lab = lab_of("mutant:warm_up_advances_state");
  const std::optional<Suspicion> suspicion = suspect_operator(a_layer(), lab);
  ASSERT_TRUE(suspicion);
  EXPECT_EQ(suspicion->op, host);
}

TEST(Localise, TellsTheNormFromTheRuleOfTheRecurrenceAlone) {
  Case c = a_layer();
  c.subject = Subject::recurrent;
  c.shape.num_layers = 1;
  const Localised rule = localise(c, lab_of("mutant:error_before_decay"), true);
  ASSERT_TRUE(rule.first);
  EXPECT_EQ(name_of(rule.first->op), "delta_rule");
  const Localised norm = localise(c, lab_of("mutant:keys_not_normalised"), true);
  ASSERT_TRUE(norm.first);
  EXPECT_EQ(name_of(norm.first->op), "qk_norm");
}

TEST(Diagnosis, MakesACaseOfOneHeadAndFewTokens) {
  const Lab lab = lab_of("mutant:error_before_decay");
  const Question question = {a_layer(), "mutant:error_before_decay",
                             invariant_named("operators_within_bound"), "a test"};
  const Finding finding = diagnose(question, lab);
  EXPECT_EQ(finding.op, "delta_rule");
  EXPECT_EQ(finding.tensor, "S");
  EXPECT_EQ(finding.token, 1);
  EXPECT_EQ(finding.smallest.tokens, 2);
  EXPECT_EQ(finding.smallest.shape.num_v_heads, 1);
  EXPECT_EQ(finding.invariant, "operators_within_bound");
}

// Its one token cannot show the fault; calls that are made up for it feed a second.
TEST(Diagnosis, OfATokenThatShowsNothingFindsTheCauseOnMore) {
  const Lab lab = lab_of("mutant:error_before_decay");
  Case c = a_layer();
  c.tokens = 1;
  const Finding finding =
      diagnose({c, "mutant:error_before_decay", nullptr, "a test"}, lab);
  EXPECT_EQ(finding.op, "delta_rule");
  ASSERT_FALSE(finding.explanations.empty());
  EXPECT_EQ(finding.explanations.front().name, "error_before_decay");
}

TEST(Diagnosis, OfASoundEngineNamesNothing) {
  const Lab lab = lab_of("twin");
  const Finding finding =
      diagnose({a_layer(), "twin", invariant_named("operators_within_bound"), "a test"}, lab);
  EXPECT_THAT(finding.op, IsEmpty());
  EXPECT_EQ(finding.verdict.outcome, Outcome::holds);
}

}  // namespace
}  // namespace gdn
