// Float32 evaluations of the delta rule as token loops, in many orders and with exp pushed to the
// edge of its ulp, never leave the local bound of a token or the running bound of a sequence.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "invariants/harness/verdict.h"
#include "reference/formats.h"
#include "tests/delta_rule_float.h"

namespace gdn {
namespace {

// The contract that a style must satisfy; its order is declared only where a test says so.
Contract contract_of(const FloatStyle& style, bool order_declared) {
  Contract contract = any_f32_contract();
  contract.decay = style.folded ? DecayForm::folded : DecayForm::first;
  contract.flushes_subnormals = style.flushes;
  if (!order_declared) return contract;
  using Stage = Reduction::Stage;
  Reduction order{.kind = Reduction::Kind::order, .stages = {}};
  if (style.order == FloatStyle::Order::serial) {
    order.stages = {{Stage::Kind::serial, 0, style.fused}};
  } else if (style.order == FloatStyle::Order::lanes) {
    order.stages = {{Stage::Kind::stride, 32, style.fused}, {Stage::Kind::tree_halves, 0, false}};
  } else {
    // Halves of halves: a chain of ceil(log2 n) additions.
    order = {.kind = Reduction::Kind::depth, .depth_d = 1, .stages = {}};
  }
  contract.delta_u = contract.delta_o = order;
  return contract;
}

// Horizons 1 to 10^6 and gates that underflow, beta near 0, 1 and 2, scales to 2^-60 and to where
// products underflow.
std::vector<FloatRegime> regimes() {
  std::vector<FloatRegime> all;
  for (const size_t kd : {1, 2, 7, 32, 128}) {
    for (const float g : {-1e-6F, -1e-3F, -1.0F, -30.0F, -95.0F, -1000.0F}) {
      for (const float beta : {0.0F, 1.0F, 2.0F}) {
        for (const float scale : {1.0F, 0x1p-60F, 0x1p-130F}) {
          FloatRegime regime{.kd = kd, .g = g, .beta_centre = beta, .scale = scale};
          regime.equal_keys = all.size() % 2 == 0;
          regime.key_norm = all.size() % 3 == 0 ? 0.5F : 1;
          regime.per_channel = all.size() % 4 == 0;
          all.push_back(regime);
        }
      }
    }
  }
  return all;
}

void attack_one_token(bool order_declared, bool flushes, const char* name) {
  Rng rng(3);
  Worst state, output;
  for (const FloatRegime& regime : regimes()) {
    const Shape shape = one_head(regime.kd, regime.vd);
    for (FloatStyle style : float_styles()) {
      style.flushes = flushes;
      const std::vector<float> before = draw_state(rng, regime);
      std::vector<float> S = before;
      const FloatToken token = draw_tokens(rng, regime, 1)[0];
      const std::vector<float> o = float_token(S, token, style);
      const Contract contract = contract_of(style, order_declared);
      const TokenInputs in = token.inputs();
      const std::string what = style.name() + ", " + text_of(regime);
      state.take(within("S", S, delta_rule_state(before, in, shape, {}, contract)), what);
      output.take(within("o", o, delta_rule_output(S, in.q, shape, {}, contract)), what);
    }
  }
  state.print((std::string(name) + "_state").c_str());
  output.print((std::string(name) + "_output").c_str());
}

TEST(LocalBound, HoldsForEveryOrderWhereNoneIsDeclared) {
  attack_one_token(false, false, "local_any");
}
TEST(LocalBound, HoldsForTheDeclaredOrder) { attack_one_token(true, false, "local_declared"); }

TEST(LocalBound, HoldsForEnginesThatFlushSubnormals) {
  attack_one_token(true, true, "local_flushing");
}

TEST(LocalBound, HoldsForInputsThatAreKnownToWithinABound) {
  Rng rng(5);
  Worst state, output;
  for (const FloatRegime& regime : regimes()) {
    const Shape shape = one_head(regime.kd, regime.vd);
    for (const double relative : {0x1p-22, 0x1p-10, 0.25}) {
      const std::vector<float> before = draw_state(rng, regime);
      std::vector<float> S = before;
      FloatToken token = draw_tokens(rng, regime, 1)[0];
      const TokenInputs in = blur(rng, token, relative);
      const std::vector<float> o = float_token(S, token, {});
      const Contract contract = any_f32_contract();
      state.take(within("S", S, delta_rule_state(before, in, shape, {}, contract)),
                 text_of(regime));
      output.take(within("o", o, delta_rule_output(S, in.q, shape, {}, contract)), text_of(regime));
    }
  }
  state.print("local_inputs_state");
  output.print("local_inputs_output");
}

void attack_sequence(const FloatRegime& regime, const FloatStyle& style, size_t count,
                     bool declared, double blur_by, Rng& rng, Worst& worst) {
  const std::string what =
      style.name() + ", " + text_of(regime) + ", " + std::to_string(count) + " tokens";
  std::vector<float> S = draw_state(rng, regime);
  RunningRecurrence running(one_head(regime.kd, regime.vd), {}, contract_of(style, declared), S);
  for (FloatToken& token : draw_tokens(rng, regime, count)) {
    const TokenInputs in = blur_by == 0 ? token.inputs() : blur(rng, token, blur_by);
    const std::vector<Bounded> want = running.call({in});
    worst.take(within("o", float_token(S, token, style), want[0]), what);
  }
  worst.take(within("S", S, running.state()), what);
}

TEST(RunningBound, HoldsForEveryOrderOverShortRuns) {
  Rng rng(17);
  Worst any, declared;
  const std::vector<FloatStyle> styles = float_styles();
  size_t turn = 0;
  for (const FloatRegime& regime : regimes()) {
    for (int i = 0; i < 3; ++i) {
      const FloatStyle& style = styles[turn++ % styles.size()];
      attack_sequence(regime, style, 12, false, 0, rng, any);
      attack_sequence(regime, style, 12, true, 0, rng, declared);
    }
  }
  any.print("running_any");
  declared.print("running_declared");
}

TEST(RunningBound, HoldsForInputsThatAreKnownToWithinABound) {
  Rng rng(19);
  Worst worst;
  for (const FloatRegime& regime : regimes()) {
    for (const double relative : {0x1p-22, 0x1p-12}) {
      attack_sequence(regime, {}, 12, false, relative, rng, worst);
    }
  }
  worst.print("running_inputs");
}

TEST(RunningBound, HoldsOverLongRunsOfSlowDecay) {
  Rng rng(23);
  Worst worst;
  for (const float g : {-1.0F, -1e-2F, -1e-4F, -1e-6F}) {
    for (const int edge : {-1, 1}) {
      for (const bool equal_keys : {false, true}) {
        FloatRegime regime{.kd = 16, .g = g, .beta_centre = 0.95F, .beta_spread = 0.05F};
        regime.equal_keys = equal_keys;
        FloatStyle style;
        style.exp_edge = edge;
        attack_sequence(regime, style, 1500, true, 0, rng, worst);
      }
    }
  }
  worst.print("running_long");
}

TEST(RunningBound, HoldsForEnginesThatFlushSubnormals) {
  Rng rng(37);
  Worst worst;
  for (const FloatRegime& regime : regimes()) {
    if (regime.scale == 1) continue;
    for (const int edge : {-1, 1}) {
      FloatStyle style;
      style.exp_edge = edge;
      style.flushes = true;
      style.folded = rng.range(0, 1) == 1;
      attack_sequence(regime, style, 12, true, 0, rng, worst);
    }
  }
  worst.print("running_flushing");
}

// exp off by 2 ulp one way in every token, nothing else to round: what eps grows by is attained.
TEST(RunningBound, IsNearlyAttainedByAOneSidedExp) {
  const float g = -1e-3F;
  std::vector<float> S{1};
  RunningRecurrence running(one_head(1, 1), {}, contract_of({}, true), S);
  FloatToken token{.q = {1}, .k = {0}, .v = {0}, .gk = {}, .g = g, .beta = 0};
  FloatStyle style;
  style.exp_edge = 1;
  Verdict last;
  for (int t = 0; t < 500; ++t) {
    float_token(S, token, style);
    running.call({token.inputs()});
    last = within("S", S, running.state());
    ASSERT_TRUE(last.holds()) << last.detail;
  }
  // Of the 6 u a token that exp, product and sum may cost, exp spends 4 less the spacing of float32
  // below 1, which is 1, and the product's roundings cancel.
  EXPECT_GT(last.worst_ratio, 3.0 / 6);
  std::printf("one-sided exp: error/bound %.3f\n", last.worst_ratio);
}

// From a small S, four roundings of nearly |S'| each: v - u, beta (), k d, the last sum. Among many
// columns some have all four large and of one sign.
TEST(LocalBound, IsNearlyAttainedByFourRoundings) {
  Rng rng(89);
  Worst worst;
  Dialect dialect;
  dialect.gate_input = Dialect::GateInput::linear_alpha;
  const FloatStyle style{.linear_gate = true};
  for (int call = 0; call < 20; ++call) {
    const FloatRegime regime{.kd = 1, .vd = 10000, .g = 1, .beta_spread = 0.05F};
    FloatToken token = draw_tokens(rng, regime, 1)[0];
    token.k[0] = 1 + 0.05F * rng.signed_unit();
    std::vector<float> before(regime.vd);
    for (size_t j = 0; j < regime.vd; ++j) {
      before[j] = 0.05F * rng.signed_unit();
      token.v[j] = 1.1F + 0.1F * rng.signed_unit();
    }
    std::vector<float> S = before;
    float_token(S, token, style);
    worst.take(within("S", S,
                      delta_rule_state(before, token.inputs(), one_head(1, regime.vd), dialect,
                                       contract_of(style, true))),
               "four roundings");
  }
  worst.print("local_four_roundings");
  // Without any one of the four the bound would be three quarters of what it is.
  EXPECT_GT(worst.ratio, 0.75);
}

// One token of one row and column with a linear gate, where float32's errors are large in double.
double exact_step(double S, const FloatToken& token) {
  const double t = token.g * S, k = token.k[0];
  return t + k * (static_cast<double>(token.beta) * (static_cast<double>(token.v[0]) - k * t));
}

// Of many tokens that leave S a little above 1, where float32's spacing is widest for its size, the
// one whose roundings add most to the error so far.
FloatToken worst_token(Rng& rng, float S, double exact, const FloatStyle& style) {
  const FloatRegime regime{.kd = 1, .vd = 1, .beta_centre = 0.03F, .beta_spread = 0.03F};
  FloatToken worst;
  double worst_error = -infinity;
  for (FloatToken& token : draw_tokens(rng, regime, 300)) {
    token.g = 1 - 0.03F * rng.unit();
    std::vector<float> next{S};
    float_token(next, token, style);
    const double error = next[0] - exact_step(exact, token);
    if (next[0] < 1 || next[0] > 1.1F || error <= worst_error) continue;
    worst = token, worst_error = error;
  }
  return worst;
}

TEST(RunningBound, HoldsAgainstAnAdversaryAndIsNearlyAttained) {
  Rng rng(83);
  Worst running_worst, local_worst;
  Dialect dialect;
  dialect.gate_input = Dialect::GateInput::linear_alpha;
  const FloatStyle style{.linear_gate = true};
  const Contract contract = contract_of(style, true);
  for (int attempt = 0; attempt < 40; ++attempt) {
    std::vector<float> S{1 + 0.1F * rng.unit()};
    double exact = S[0];
    RunningRecurrence running(one_head(1, 1), dialect, contract, S);
    for (int t = 0; t < 12; ++t) {
      const FloatToken token = worst_token(rng, S[0], exact, style);
      if (token.k.empty()) break;
      const Bounded local = delta_rule_state(S, token.inputs(), one_head(1, 1), dialect, contract);
      exact = exact_step(exact, token);
      float_token(S, token, style);
      running.call({token.inputs()});
      running_worst.take(within("S", S, running.state()), "adversary");
      local_worst.take(within("S", S, local), "adversary");
    }
  }
  running_worst.print("running_adversary");
  local_worst.print("local_adversary");
  // Two roundings of nearly 1, u each, are there to be spent: of the other terms little is left.
  EXPECT_GT(running_worst.ratio, 0.75);
}

TEST(RunningBound, StateStoredInBf16IsRoundedOnceACall) {
  Rng rng(29);
  Dialect dialect;
  dialect.state_storage = Format::bf16;
  Worst worst;
  for (const size_t tokens_a_call : {1, 4}) {
    const FloatRegime regime{.kd = 16, .g = -0.1F};
    std::vector<float> S(regime.kd * regime.vd);
    RunningRecurrence running(one_head(regime.kd, regime.vd), dialect, contract_of({}, false));
    for (int call = 0; call < 20; ++call) {
      const std::vector<FloatToken> tokens = draw_tokens(rng, regime, tokens_a_call);
      const std::vector<Bounded> want = running.call(inputs_of(tokens));
      for (size_t t = 0; t < tokens.size(); ++t) {
        worst.take(within("o", float_token(S, tokens[t], {}), want[t]), "bf16");
      }
      for (float& s : S) s = static_cast<float>(round_to(Format::bf16, s));
      worst.take(within("S", S, running.state()), "bf16");
    }
  }
  worst.print("running_bf16");
}

TEST(RunningBound, AWrongTokenIsSeen) {
  Rng rng(31);
  const FloatRegime regime{.kd = 32, .g = -0.01F};
  std::vector<float> S(regime.kd * regime.vd);
  RunningRecurrence running(one_head(regime.kd, regime.vd), {}, any_f32_contract());
  Verdict last;
  for (FloatToken& token : draw_tokens(rng, regime, 20)) {
    const std::vector<Bounded> want = running.call({token.inputs()});
    // The error taken before the decay: u is larger by 1/alpha, a hundredth.
    FloatToken undecayed = token;
    for (float& v : undecayed.v) v *= std::exp(-token.g);
    last = within("o", float_token(S, undecayed, {}), want[0]);
  }
  EXPECT_EQ(last.outcome, Outcome::fails);
}

}  // namespace
}  // namespace gdn
