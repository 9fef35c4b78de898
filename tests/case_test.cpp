// Cases: their text is canonical and safe to read, their numbers are fixed for ever.
#include "reference/case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "reference/operators.h"
#include "tests/case_files.h"
#include "tests/case_texts.h"

namespace gdn {
namespace {

using testing::HasSubstr;

std::string why_not_parsed(const std::string& text) {
  std::string why;
  return parse_case(text, &why) ? "" : why;
}

// The published vectors of FNV-1a and of splitmix64 seeded with 0.
TEST(Rng, HashAndGeneratorAreThePublishedOnes) {
  EXPECT_EQ(fnv1a64(""), 0xCBF29CE484222325U);
  EXPECT_EQ(fnv1a64("a"), 0xAF63DC4C8601EC8CU);
  EXPECT_EQ(fnv1a64("foobar"), 0x85944171F73967E8U);
  EXPECT_EQ(Rng(0).next(), 0xE220A8397B1DCDAFU);
}

// The top 24 bits of that number are 0xE220A8 = 14819496; less 2^23 they are 6430888.
TEST(Rng, UnitsAreExactMultiplesOfAPowerOfTwo) {
  EXPECT_EQ(Rng(0).signed_unit(), 6430888.0F / 8388608.0F);
  EXPECT_EQ(Rng(0).unit(), 14819496.0F / 16777216.0F);
}

TEST(Rng, RangesAreInclusiveAndReachBothEnds) {
  Rng rng(1);
  std::set<int64_t> seen;
  for (int i = 0; i < 200; ++i) seen.insert(rng.range(-2, 3));
  EXPECT_EQ(seen, (std::set<int64_t>{-2, -1, 0, 1, 2, 3}));
  EXPECT_EQ(Rng(5).range(9, 9), 9);
}

TEST(Rng, StreamsOfOtherNamesAreOtherNumbers) {
  EXPECT_NE(Rng(0).stream("q").next(), Rng(0).stream("k").next());
  EXPECT_EQ(Rng(0).stream("q").next(), Rng(0).stream("q").next());
}

TEST(CaseText, WhatWasPrintedReadsBackAndPrintsTheSame) {
  EXPECT_EQ(print(parsed(gates_text)), gates_text);
  const std::string rich =
      "deltaproof-case 1\nsubject layer\nseed 18446744073709551615\n" + shape_text +
      "dialect deltaproof head_map=tiled scale=0.25\nweights f32\ntokens 3\n"
      "recipe horizon_tokens=100 pattern=one_hot\npool gap=3 offset=2 slots=4\n"
      "call load_layer_f32 omit=z,qkv\ncall run read=S,QKV tokens=3 layer=0\n"
      "numbers h 3f800000 7fc00001\n";
  const std::string canonical = print(parsed(rich));
  EXPECT_NE(canonical, rich);  // orders and defaults are put right
  EXPECT_EQ(print(parsed(canonical)), canonical);
  EXPECT_THAT(canonical, HasSubstr("call run tokens=3 read=QKV,S\n"));
  EXPECT_THAT(canonical, HasSubstr("recipe pattern=one_hot horizon_tokens=100\n"));
  EXPECT_THAT(canonical, HasSubstr("pool slots=4 offset=2 gap=3 states=1\n"));
  EXPECT_THAT(canonical, HasSubstr("call load_layer_f32 omit=qkv,z\n"));
  EXPECT_THAT(canonical, HasSubstr("numbers h 3f800000 7fc00001\n"));
}

// FNV-1a of the text is 20de69ca2cd3353c; its halves folded are 20de69ca ^ 2cd3353c = 0c0d5cf6.
TEST(CaseText, TheHashOfATextNeverChanges) {
  EXPECT_EQ(hash8(parsed(gates_text)), "0c0d5cf6");
  Case other = parsed(gates_text);
  other.seed = 8;
  EXPECT_NE(hash8(other), "0c0d5cf6");
}

TEST(CaseText, EverySeedIsCanonicalButForItsComments) {
  const std::vector<CorpusFile> seeds = case_files("seeds");
  EXPECT_GE(seeds.size(), 50U);
  for (const CorpusFile& seed : seeds) {
    std::istringstream lines(seed.text);
    std::string without_comments;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with('#')) without_comments += line + "\n";
    }
    EXPECT_EQ(print(seed.content), without_comments) << seed.name;
    const std::string folder = "seeds/" + std::string(name_of(seed.content.subject)) + "/";
    EXPECT_TRUE(seed.name.starts_with(folder)) << seed.name;
  }
}

TEST(CaseText, ErrorsNameTheLineAndWhatWasExpected) {
  const struct {
    std::string text;
    const char* why;
  } bad[] = {
      {"", "line 1: first line: expected deltaproof-case 1"},
      {"deltaproof-case 2\n", "line 1: first line"},
      {"deltaproof-case 1\r\n", "line 1: expected lines that end with \\n alone"},
      {"deltaproof-case 1\n", "expected a line subject"},
      {gates_text + "nonsense\n", "line 7: line: expected subject, seed"},
      {gates_text + "seed 8\n", "line 7: seed: given twice"},
      {"deltaproof-case 1\nsubject gate\n", "line 2: subject: expected layer"},
      {"deltaproof-case 1\nsubject\n", "line 2: subject: expected one value, got 0"},
      {"deltaproof-case 1\nseed -1\n", "line 2: seed: expected a number below 2^64, got \"-1\""},
      {"deltaproof-case 1\nseed 18446744073709551616\n", "line 2: seed"},
      {"deltaproof-case 1\nshape hidden_size=8\n", "line 2: shape: expected all seven"},
      {"deltaproof-case 1\nshape hidden_size=8 hidden_size=9\n", "\"hidden_size\" twice"},
      {"deltaproof-case 1\nshape hidden_size=8x\n", "expected a whole number, got \"8x\""},
      {"deltaproof-case 1\nshape width=8\n", "line 2: shape: expected hidden_size"},
      {"deltaproof-case 1\ndialect klingon\n", "line 2: dialect: expected the name of a preset"},
      {"deltaproof-case 1\ndialect hf head_map=round\n", "line 2"},
      {"deltaproof-case 1\nweights q8\n", "expected f32 or q4"},
      {"deltaproof-case 1\nrecipe horizon=8\n", "expected the name of a knob, got \"horizon\""},
      {"deltaproof-case 1\nrecipe pattern=nice\n", "expected the name of a pattern"},
      {gates_text + "call\n", "line 7: call: expected the name of a call"},
      {gates_text + "call open\n", "expected a call of the engine interface, got \"open\""},
      {gates_text + "call step tokens=2\n", "call step: expected an argument that it takes"},
      {gates_text + "call step layer\n", "call: expected key=value, got \"layer\""},
      {gates_text + "call step read=SS\n", "read: expected the name of a tensor, got \"SS\""},
      {gates_text + "call reset omit=everything\n", "omit: no call has a pointer of this name"},
      {gates_text + "call run lengths=1\n", "lengths belongs to recurrent"},
      {gates_text + "numbers a 3f8\n", "expected 8 hexadecimal digits, got \"3f8\""},
      {gates_text + "numbers a\n", "numbers: expected a name and words"},
      {gates_text + "numbers a/b 3f800000\n", "expected the name of an array"},
      {gates_text + "matrix rows=4 cols=32\n", "matrix belongs to in_proj"},
      {gates_text + "recipe horizon_tokens=0\n", "horizon_tokens is 0, expected 1 to"},
      {"deltaproof-case 1\nsubject conv\n" + shape_text + "tokens 0\ncall load_layer_f32\n",
       "call 1, load_layer_f32: it belongs to a case of subject layer"},
      {"deltaproof-case 1\nsubject recurrent\n" + shape_text + "tokens 2\ncall step\n",
       "call 1, step: it belongs to a case of subject layer"},
  };
  for (const auto& [text, why] : bad) EXPECT_THAT(why_not_parsed(text), HasSubstr(why)) << text;
}

// Each of these would ask for terabytes if it were believed.
TEST(CaseText, SizesThatNoMachineHasAreRefusedBeforeAnythingIsAllocated) {
  const std::string huge[] = {
      "hidden_size=4611686018427387904", "hidden_size=134217728 num_v_heads=134217728",
      "num_layers=9223372036854775807",  "conv_kernel=9223372036854775807",
      "head_k_dim=3037000500",           "head_v_dim=134217727"};
  for (const std::string& fields : huge) {
    std::string text = "deltaproof-case 1\nsubject layer\nshape";
    for (const char* name : {"hidden_size", "num_k_heads", "head_k_dim", "num_v_heads",
                             "head_v_dim", "conv_kernel", "num_layers"}) {
      if (fields.find(name) == std::string::npos) text += " " + std::string(name) + "=4";
    }
    EXPECT_NE(why_not_parsed(text + " " + fields + "\ntokens 1\n"), "") << fields;
  }
  EXPECT_NE(why_not_parsed("deltaproof-case 1\nsubject layer\n" + shape_text +
                           "tokens 9223372036854775807\n"),
            "");
  EXPECT_NE(why_not_parsed("deltaproof-case 1\nsubject dequant\n" + shape_text +
                           "matrix rows=134217728 cols=134217728\ntokens 0\n"),
            "");
}

TEST(CaseText, DamagedTextNeitherCrashesNorReadsAsSomethingUnprintable) {
  Rng rng(20);
  size_t survived = 0;
  for (const CorpusFile& seed : case_files("seeds")) {
    for (int round = 0; round < 60; ++round) {
      std::string text = seed.text;
      for (int64_t edits = rng.range(1, 4); edits > 0; --edits) {
        const auto at = static_cast<size_t>(rng.range(0, static_cast<int64_t>(text.size()) - 1));
        const int64_t kind = rng.range(0, 3);
        if (kind == 0) text[at] = static_cast<char>(rng.range(0, 255));
        if (kind == 1) text.erase(at, static_cast<size_t>(rng.range(1, 20)));
        if (kind == 2) text.insert(at, text.substr(at, static_cast<size_t>(rng.range(1, 20))));
        if (kind == 3) text[at] = static_cast<char>(rng.range('0', '9'));
        if (text.empty()) text = "x";
      }
      std::string why;
      const std::optional<Case> c = parse_case(text, &why);
      if (!c) {
        EXPECT_THAT(why, testing::StartsWith("line ")) << text;
        continue;
      }
      ++survived;
      EXPECT_EQ(why_invalid(*c), "") << text;
      EXPECT_EQ(print(parsed(print(*c))), print(*c)) << text;
    }
  }
  EXPECT_GT(survived, 100U) << "too few damaged texts were still cases";
}

TEST(Neighbours, AreValidDifferentAndLeadToAnEnd) {
  for (const CorpusFile& seed : case_files("seeds")) {
    for (const Case& near : seed.content.neighbours()) {
      EXPECT_EQ(why_invalid(near), "") << print(near);
      EXPECT_NE(print(near), print(seed.content));
    }
    // Always the first: a shrinker that finds every case failing must come to a stop.
    Case c = seed.content;
    size_t steps = 0;
    for (std::vector<Case> near = c.neighbours(); !near.empty(); near = c.neighbours()) {
      c = near.front();
      ASSERT_LT(++steps, 1000U) << seed.name;
    }
    EXPECT_LE(c.tokens, 1) << seed.name;
    EXPECT_LE(c.calls.size(), 1U) << seed.name;
  }
}

TEST(FirstTokens, GoOnWhereTheLayerStopped) {
  const Case c = parsed("deltaproof-case 1\nsubject layer\n" + shape_text +
                        "tokens 9\ncall step\ncall run tokens=3\ncall reset\ncall step\n"
                        "call step first_token=0\ncall step\ncall forward tokens=2\n");
  EXPECT_EQ(first_tokens(c), (std::vector<int64_t>{0, 1, 0, 4, 0, 1, 0}));
}

TEST(Validity, ACallBeyondTheStreamIsNamed) {
  Case c = parsed("deltaproof-case 1\nsubject layer\n" + shape_text + "tokens 2\ncall step\n");
  EXPECT_EQ(why_invalid(c), "");
  c.calls.push_back(c.calls.front());
  c.calls.push_back(c.calls.front());
  EXPECT_THAT(why_invalid(c), HasSubstr("call 3, step: last token is 3, expected at most tokens"));
}

TEST(Numbers, AreAFunctionOfSeedAndNameAlone) {
  Case c = parsed(gates_text);
  std::string why;
  const Numbers one = *materialise(c, &why);
  EXPECT_EQ(materialise(c, &why)->arrays, one.arrays);
  c.shape.num_k_heads = 2;  // the gates do not depend on it
  EXPECT_EQ(materialise(c, &why)->arrays, one.arrays);
  c.seed = 8;
  EXPECT_NE(materialise(c, &why)->arrays.at("a"), one.arrays.at("a"));
}

TEST(Numbers, GivenByTheCaseReplaceDrawnOnesBitForBit) {
  const Case c = parsed(gates_text + "numbers A_log 42c80000 ff800001\n");
  std::string why;
  const Numbers numbers = *materialise(c, &why);
  EXPECT_EQ(numbers.arrays.at("A_log")[0], 100.0F);
  EXPECT_TRUE(std::isnan(numbers.arrays.at("A_log")[1]));
  EXPECT_FALSE(materialise(parsed(gates_text + "numbers A_log 42c80000\n"), &why));
  EXPECT_EQ(why, "numbers A_log: 1 given, expected 2");
  EXPECT_FALSE(materialise(parsed(gates_text + "numbers C_log 42c80000\n"), &why));
  EXPECT_EQ(why, "numbers C_log: a case of gates has no such array");
}

TEST(Values, PowersOfTwoAreExactSteps) {
  EXPECT_EQ(exp2_steps(0), 1.0F);
  EXPECT_EQ(exp2_steps(5), 32.0F);
  EXPECT_EQ(exp2_steps(-1.5F), 0.375F);  // floor -2, half of the way from 1/4 to 1/2
  EXPECT_EQ(floor_log2(1), 0);
  EXPECT_EQ(floor_log2(5120), 12);
}

TEST(Values, PatternsAreWhatTheirNamesSay) {
  for (const float x : draw(Rng(3), Pattern::dyadic, 100, 0)) {
    EXPECT_EQ(x * 8, std::round(x * 8));
    EXPECT_LE(std::abs(x), 1);
  }
  const std::vector<float> hot = draw(Rng(3), Pattern::one_hot, 100, 4);
  EXPECT_EQ(std::count(hot.begin(), hot.end(), 16.0F), 1);
  EXPECT_EQ(std::count(hot.begin(), hot.end(), 0.0F), 99);
  for (const float x : draw(Rng(3), Pattern::subnormal, 100, 9)) EXPECT_LT(std::abs(x), 0x1p-126F);
  for (const float x : draw(Rng(3), Pattern::any_finite, 3000, 0)) EXPECT_TRUE(std::isfinite(x));
  size_t special = 0;
  for (const float x : draw(Rng(3), Pattern::any_bits, 3000, 0)) special += !std::isfinite(x);
  EXPECT_GT(special, 0U);
}

// The knob is a horizon only if the gates that it makes have one.
TEST(Values, AHorizonOfNTokensGivesALogDecayOfAboutOneNth) {
  for (const int64_t horizon : {1, 10, 1000, 1'000'000}) {
    Case c = parsed(gates_text);
    c.shape.num_v_heads = 64;
    c.recipe.horizon_tokens = horizon;
    c.recipe.pattern = static_cast<int64_t>(Pattern::zero);
    std::string why;
    const Numbers n = *materialise(c, &why);
    const Gates made = gates(exactly(n.arrays.at("a")), exactly(n.arrays.at("b")),
                             n.arrays.at("A_log"), n.arrays.at("dt_bias"), c.dialect, Contract{});
    for (const double g : made.g.value) {
      EXPECT_LT(-g * static_cast<double>(horizon), 2.5) << horizon;
      EXPECT_GT(-g * static_cast<double>(horizon), 0.4) << horizon;
    }
  }
}

}  // namespace
}  // namespace gdn
