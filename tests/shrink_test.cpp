// Shrinking: to the smallest case that a predicate allows, the same way every time.
#include "invariants/harness/shrink.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "invariants/harness/regimes.h"
#include "reference/dialect.h"

namespace gdn {
namespace {

constexpr size_t tries_max = 20'000;

// A case of the default mix that a predicate holds for.
template <class Predicate>
Case first_drawn(Predicate predicate) {
  for (uint64_t i = 0; i < 20'000; ++i) {
    Case c = draw_case(11, i);
    if (predicate(c)) return c;
  }
  ADD_FAILURE() << "no drawn case is such";
  return {};
}

int64_t steps_of(const Case& c) {
  return std::count_if(c.calls.begin(), c.calls.end(),
                       [](const Call& call) { return call.kind == CallKind::step; });
}

bool rolls_back(const Case& c) {
  const auto is = [](CallKind kind) {
    return [kind](const Call& call) { return call.kind == kind; };
  };
  const auto taken = std::find_if(c.calls.begin(), c.calls.end(), is(CallKind::snapshot));
  return std::any_of(taken, c.calls.end(), is(CallKind::rollback));
}

TEST(Shrink, ToTheTwoCallsThatItTakes) {
  const Case drawn = first_drawn([](const Case& c) { return rolls_back(c) && steps_of(c) > 0; });
  const Shrunk shrunk = shrink(drawn, rolls_back, tries_max);
  EXPECT_EQ(print(shrunk.smallest),
            "deltaproof-case 1\nsubject layer\nseed 1\n"
            "shape hidden_size=1 num_k_heads=1 head_k_dim=1 num_v_heads=1 head_v_dim=1 "
            "conv_kernel=1 num_layers=1 rms_norm_eps=1e-06 l2norm_eps=1e-06\n"
            "dialect deltaproof\ntokens 1\ncall snapshot\ncall rollback\n");
  EXPECT_GT(shrunk.accepted, 0U);
  EXPECT_GE(shrunk.tried, shrunk.accepted);
}

TEST(Shrink, ToTheSmallestStateAndStreamAllowed) {
  const auto fails = [](const Case& c) {
    return c.subject == Subject::recurrent && c.shape.head_v_dim >= 3 && c.tokens >= 17;
  };
  const Shrunk shrunk = shrink(first_drawn(fails), fails, tries_max);
  EXPECT_EQ(print(shrunk.smallest),
            "deltaproof-case 1\nsubject recurrent\nseed 1\n"
            "shape hidden_size=1 num_k_heads=1 head_k_dim=1 num_v_heads=1 head_v_dim=3 "
            "conv_kernel=1 num_layers=1 rms_norm_eps=1e-06 l2norm_eps=1e-06\n"
            "dialect deltaproof\ntokens 17\n");
}

// One NaN among explicit numbers stays while dimensions shrink around it.
TEST(Shrink, KeepsTheNumbersThatMatter) {
  const auto fails = [](const Case& c) {
    const auto found = c.numbers.find("dt_bias");
    return c.subject == Subject::gates && found != c.numbers.end() &&
           std::any_of(found->second.begin(), found->second.end(), [](uint32_t bits) {
             return std::bit_cast<float>(bits) != std::bit_cast<float>(bits);
           });
  };
  const Shrunk shrunk = shrink(first_drawn(fails), fails, tries_max);
  const Case& c = shrunk.smallest;
  EXPECT_EQ(c.numbers.size(), 1U);
  const std::vector<uint32_t>& bits = c.numbers.at("dt_bias");
  EXPECT_EQ(static_cast<int64_t>(bits.size()), c.shape.num_v_heads);
  EXPECT_EQ(std::count(bits.begin(), bits.end(), 0U) + 1, static_cast<int64_t>(bits.size()));
  EXPECT_TRUE(c.recipe == Recipe{});
}

// [2][3] of hidden by tokens: the part of a matrix that a smaller one has is its upper left.
TEST(Neighbours, CutExplicitNumbersToTheirNewShape) {
  Case c;
  c.subject = Subject::layer;
  c.shape = {.hidden_size = 3,
             .num_k_heads = 1,
             .head_k_dim = 1,
             .num_v_heads = 1,
             .head_v_dim = 1,
             .conv_kernel = 1};
  c.tokens = 2;
  c = c.with_numbers("h", {1, 2, 3, 4, 5, 6});
  const auto is_given = [&c](int64_t tokens, int64_t hidden, const std::vector<float>& numbers) {
    Case want = c.with_numbers("h", numbers);
    want.tokens = tokens;
    want.shape.hidden_size = hidden;
    const std::vector<Case> near = c.neighbours();
    return std::any_of(near.begin(), near.end(),
                       [&](const Case& other) { return print(other) == print(want); });
  };
  EXPECT_TRUE(is_given(1, 3, {1, 2, 3}));
  EXPECT_TRUE(is_given(2, 2, {1, 2, 4, 5}));
  EXPECT_TRUE(is_given(2, 1, {1, 4}));
}

TEST(Neighbours, OfNumbersWithStrangeNamesAreValid) {
  Case c;
  c.subject = Subject::layer;
  c.shape = {.hidden_size = 2,
             .num_k_heads = 1,
             .head_k_dim = 2,
             .num_v_heads = 1,
             .head_v_dim = 2,
             .conv_kernel = 2,
             .num_layers = 2};
  c.tokens = 2;
  for (const char* name : {"qkv@x", "norm@99999999999999999999", "@", "norm@1"}) {
    c = c.with_numbers(name, {1, 2});
  }
  for (const Case& near : c.neighbours()) EXPECT_EQ(why_invalid(near), "");
}

TEST(Shrink, IsTheSameEachTime) {
  const auto fails = [](const Case& c) { return c.tokens >= 2 && c.shape.num_v_heads >= 2; };
  const Case drawn = first_drawn(fails);
  const Shrunk one = shrink(drawn, fails, tries_max);
  const Shrunk other = shrink(drawn, fails, tries_max);
  EXPECT_EQ(print(one.smallest), print(other.smallest));
  EXPECT_EQ(one.tried, other.tried);
}

TEST(Shrink, StopsAfterSoManyTries) {
  const auto always = [](const Case&) { return true; };
  const Shrunk shrunk = shrink(draw_case(11, 0), always, 5);
  EXPECT_EQ(shrunk.tried, 5U);
  EXPECT_EQ(shrunk.accepted, 5U);
}

}  // namespace
}  // namespace gdn
