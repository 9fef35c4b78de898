// What an engine says of itself: read strictly, every error with its key.
#include "invariants/harness/description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gdn {
namespace {

using testing::HasSubstr;

// `dialect`, `capabilities` and `contract` with what is put between their braces.
std::string text_of(const std::string& dialect, const std::string& capabilities,
                    const std::string& contract, const std::string& more = "") {
  return R"({"name": "mine", "dialect": {)" + dialect + R"(}, "capabilities": {)" + capabilities +
         R"(}, "contract": {)" + contract + "}" + more + "}";
}

Description parsed(const std::string& text) {
  std::string why;
  const std::optional<Description> d = parse_description(text, &why);
  EXPECT_TRUE(d.has_value()) << why;
  return d.value_or(Description{});
}

std::string why_not(const std::string& text) {
  std::string why;
  return parse_description(text, &why) ? "" : why;
}

TEST(Description, WhatIsLeftOutHasItsDocumentedDefault) {
  const Description d = parsed(text_of("", "", ""));
  EXPECT_EQ(d.name, "mine");
  EXPECT_EQ(d.dialect.head_map, Dialect::HeadMap::grouped);
  EXPECT_TRUE(d.calls.empty());
  EXPECT_EQ(d.contract.conv.kind, Reduction::Kind::any);
  EXPECT_EQ(d.contract.functions, FunctionErrors{});
  EXPECT_EQ(d.contract.gate_sum_form_below, -infinity);
  EXPECT_TRUE(d.contract.fused_possible);
}

TEST(Description, EveryFieldIsRead) {
  const Description d = parsed(
      text_of(R"("head_map": "tiled", "scale": 0.25, "activation": "q8_0")",
              R"("calls": ["open", "step"], "apply": ["gates"], "options": ["fill"])",
              R"("name": "c", "silu": "reciprocal", "sigmoid": "exp_of_negative", "mean": "divide",
         "qk_norm_form": "rsqrt", "gated_norm_form": "times_reciprocal_sqrt",
         "q_scale": "rounded_constant", "softplus": "log_one_plus_exp", "decay": "folded",
         "gate_sum_form_below": -20, "flushes_subnormals": true, "activation_bits": 8,
         "fused_possible": false, "recurrence": "chunked_row_inverse", "chunk_tokens": 32,
         "functions": {"exp_ulp": 1, "exp_ulp_per_x": 0.25},
         "in_proj": {"kind": "depth", "depth_a": 1, "depth_b": 2, "depth_c": 32, "depth_d": 3},
         "conv": {"kind": "order", "stages": [{"kind": "stride", "size": 4, "fused": true},
                                              {"kind": "tree_halves"}]})"));
  EXPECT_EQ(d.dialect.head_map, Dialect::HeadMap::tiled);
  EXPECT_EQ(d.dialect.scale, 0.25F);
  EXPECT_EQ(d.dialect.activation, Dialect::Activation::q8_0);
  EXPECT_TRUE(d.calls.contains("step"));
  EXPECT_TRUE(d.apply.contains("gates"));
  EXPECT_TRUE(d.options.contains("fill"));
  const Contract& c = d.contract;
  EXPECT_EQ(c.silu, SigmoidForm::reciprocal);
  EXPECT_EQ(c.sigmoid, SigmoidForm::exp_of_negative);
  EXPECT_EQ(c.mean, MeanForm::divide);
  EXPECT_EQ(c.qk_norm_form, NormForm::rsqrt);
  EXPECT_EQ(c.gated_norm_form, NormForm::times_reciprocal_sqrt);
  EXPECT_EQ(c.q_scale, QScaleForm::rounded_constant);
  EXPECT_EQ(c.softplus, SoftplusForm::log_one_plus_exp);
  EXPECT_EQ(c.decay, DecayForm::folded);
  EXPECT_EQ(c.gate_sum_form_below, -20);
  EXPECT_TRUE(c.flushes_subnormals);
  EXPECT_EQ(c.activation_bits, 8);
  EXPECT_FALSE(c.fused_possible);
  EXPECT_EQ(c.recurrence, Recurrence::chunked_row_inverse);
  EXPECT_EQ(c.chunk_tokens, 32);
  EXPECT_EQ(c.functions.exp_ulp, 1);
  EXPECT_EQ(c.functions.exp_ulp_per_x, 0.25);
  EXPECT_EQ(c.functions.log1p_ulp, 2);
  EXPECT_EQ(c.in_proj.depth_c, 32);
  EXPECT_EQ(c.in_proj.depth_d, 3);
  ASSERT_EQ(c.conv.stages.size(), 2U);
  EXPECT_EQ(c.conv.stages[0].size, 4);
  EXPECT_TRUE(c.conv.stages[0].fused);
  EXPECT_EQ(c.conv.stages[1].kind, Reduction::Stage::Kind::tree_halves);
}

TEST(Description, TheSumFormOfTheGateMayBeNever) {
  for (const char* never : {"null", "\"-inf\""}) {
    const Description d = parsed(text_of("", "", std::string("\"gate_sum_form_below\": ") + never));
    EXPECT_EQ(d.contract.gate_sum_form_below, -infinity);
  }
}

TEST(Description, ErrorsNameTheKeyAndWhatWasExpected) {
  const struct {
    std::string text;
    const char* why;
  } bad[] = {
      {"", "description: expected JSON"},
      {"{", "description: expected JSON"},
      {"[1]", "description: expected an object, got [1]"},
      {"{}", "name: expected letters"},
      {R"({"name": "My Engine"})", "name: expected letters"},
      {R"({"name": "mine", "dialect": {}, "capabilities": {}})", "contract: expected an object"},
      {text_of("", "", "", R"(, "author": "me")"), "unknown key"},
      {text_of(R"("head_map": "round")", "", ""), "dialect.head_map: expected"},
      {text_of(R"("head_map": 1)", "", ""), "dialect.head_map: expected text, got 1"},
      {text_of(R"("headmap": "tiled")", "", ""), "dialect.\"headmap\": unknown key"},
      {text_of(R"("scale": "big")", "", ""), "dialect.scale: expected a number"},
      {text_of("", R"("calls": ["fly"])", ""), "capabilities.calls: expected known names only"},
      {text_of("", R"("calls": ["step", "step"])", ""), "step comes twice"},
      {text_of("", R"("calls": "step")", ""), "capabilities.calls: expected a list of names"},
      {text_of("", R"("apply": ["dequant"])", ""), "capabilities.apply: expected known names"},
      {text_of("", "", R"("silu": "round")"), "contract.silu: expected one of any, divide"},
      {text_of("", "", R"("fused_possible": 1)"), "contract.fused_possible: expected true or"},
      {text_of("", "", R"("activation_bits": 8.5)"), "contract.activation_bits: expected a whole"},
      {text_of("", "", R"("activation_bits": -1)"), "contract.activation_bits: expected a number"},
      {text_of("", "", R"("chunk_tokens": 0)"), "contract.chunk_tokens: expected a number from 1"},
      {text_of("", "", R"("functions": {"exp_ulp": -1})"), "contract.functions.exp_ulp: expected"},
      {text_of("", "", R"("functions": {"sin_ulp": 1})"), "unknown key"},
      {text_of("", "", R"("conv": {"kind": "order"})"), "contract.conv.stages: expected a list"},
      {text_of("", "", R"("conv": {"kind": "order", "stages": []})"), "contract.conv.stages"},
      {text_of("", "", R"("conv": {"kind": "some"})"), "contract.conv.kind: expected one of any"},
      {text_of("", "", R"("conv": {})"), "contract.conv.kind: expected any, depth or order"},
      {text_of("", "", R"("conv": {"kind": "any", "depth_a": 1})"), "unknown key"},
      {text_of("", "", R"("conv": {"kind": "order", "stages": [{"kind": "block"}]})"),
       "contract.conv.stages[0].size: expected 1 or more"},
      {text_of("", "", R"("conv": {"kind": "order", "stages": [{"kind": "serial", "size": 4}]})"),
       "contract.conv.stages[0].size: expected none"},
      {text_of("", "",
               R"("conv": {"kind": "order", "stages": [{"kind": "serial"},
                           {"kind": "serial", "fused": true}]})"),
       "contract.conv.stages[1].fused: expected false"},
  };
  for (const auto& [text, why] : bad) EXPECT_THAT(why_not(text), HasSubstr(why)) << text;
}

TEST(Description, APromisedCallMustBeInTheTable) {
  gdn_api api = {};
  const Description d = parsed(text_of("", R"("calls": ["snapshot"])", ""));
  EXPECT_THAT(why_inconsistent(d, api), HasSubstr("snapshot is promised"));
  api.snapshot = [](gdn_engine*, int64_t, uint64_t*) { return GDN_OK; };
  EXPECT_EQ(why_inconsistent(d, api), "");
}

}  // namespace
}  // namespace gdn
