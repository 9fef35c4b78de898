// The layer: operators composed, against numbers worked out by hand; what the local check takes
// from an engine and what it must not forgive.
#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "invariants/harness/judge.h"
#include "invariants/harness/verdict.h"
#include "reference/layer.h"
#include "reference/layer_parts.h"

namespace gdn {
namespace {

// One of everything. h = 1, so that the weights are the projections: q and k are positive and,
// with eps 0, normalise to 1. v and z are silu(ln 3) = 3/4 ln 3; beta = sigmoid(0) = 1/2; the decay
// is exp(-softplus(0)) = 1/2.
struct OneOfEverything {
  const float ln3 = std::log(3.0F);
  std::vector<float> qkv = {1, 1, ln3};
  std::vector<float> z = {ln3}, zero = {0}, out = {3};
  LayerInputs inputs;

  explicit OneOfEverything(size_t tokens) {
    inputs.shape.hidden_size = 1;
    inputs.shape.num_k_heads = inputs.shape.num_v_heads = 1;
    inputs.shape.head_k_dim = inputs.shape.head_v_dim = 1;
    inputs.shape.conv_kernel = 1;
    inputs.shape.l2norm_eps = inputs.shape.rms_norm_eps = 0;
    inputs.weights.qkv = {3, 1, qkv.data(), nullptr};
    inputs.weights.z = {1, 1, z.data(), nullptr};
    inputs.weights.a = inputs.weights.b = {1, 1, zero.data(), nullptr};
    inputs.weights.out = {1, 1, out.data(), nullptr};
    inputs.weights.conv = {1, 1, 1};
    inputs.weights.A_log = inputs.weights.dt_bias = {0};
    inputs.weights.norm = {2};
    inputs.h.assign(tokens, {1});
  }
};

// The expected numbers, rounded to float32, as an engine's: one that makes no other error.
std::vector<TokenTensors> as_seen(const std::vector<TokenExpectation>& want) {
  std::vector<TokenTensors> seen(want.size());
  for (size_t t = 0; t < want.size(); ++t) {
    for (const auto& [tensor, numbers] : want[t]) {
      seen[t][tensor].assign(numbers.value.begin(), numbers.value.end());
    }
  }
  return seen;
}

// Three taps, two heads of three by two, numbers of no pattern.
struct SmallLayer {
  std::vector<float> qkv, z, b, a, out;
  LayerInputs inputs;

  explicit SmallLayer(size_t tokens) {
    Shape& shape = inputs.shape;
    shape.hidden_size = 4;
    shape.num_k_heads = 1;
    shape.num_v_heads = 2;
    shape.head_k_dim = 3;
    shape.head_v_dim = 2;
    shape.conv_kernel = 3;
    qkv = numbers(shape.conv_dim() * 4, 1);
    z = numbers(shape.v_dim() * 4, 2);
    b = numbers(2 * 4, 3);
    a = numbers(2 * 4, 4);
    out = numbers(4 * shape.v_dim(), 5);
    LayerWeights& w = inputs.weights;
    w.qkv = {shape.conv_dim(), 4, qkv.data(), nullptr};
    w.z = {shape.v_dim(), 4, z.data(), nullptr};
    w.b = {2, 4, b.data(), nullptr};
    w.a = {2, 4, a.data(), nullptr};
    w.out = {4, shape.v_dim(), out.data(), nullptr};
    w.conv = numbers(shape.conv_dim() * 3, 6);
    w.A_log = {-1, 0};
    w.dt_bias = {0.5F, -0.25F};
    w.norm = {1, 0.75F};
    for (size_t t = 0; t < tokens; ++t) inputs.h.push_back(numbers(4, 7 + t));
  }

  // Multiples of 1/64 between -1 and 1, from a linear congruence.
  static std::vector<float> numbers(int64_t count, uint64_t seed) {
    std::vector<float> out(static_cast<size_t>(count));
    uint32_t state = static_cast<uint32_t>(seed * 2654435761U);
    for (float& number : out) {
      state = state * 1664525U + 1013904223U;
      number = static_cast<float>(static_cast<int32_t>(state >> 25) - 64) / 64;
    }
    return out;
  }
};

bool all_hold(const std::vector<Judgement>& rows) {
  bool holds = !rows.empty();
  for (const Judgement& row : rows) {
    holds = holds && row.verdict.holds();
    EXPECT_TRUE(row.verdict.holds()) << row.verdict.detail;
  }
  return holds;
}

Outcome outcome_of(const std::vector<Judgement>& rows, const std::string& tensor) {
  for (const Judgement& row : rows) {
    if (row.tensor == tensor) return row.verdict.outcome;
  }
  return Outcome::not_applicable;
}

TEST(Layer, TwoTokensGiveTheNumbersWorkedOutByHand) {
  const OneOfEverything layer(2);
  const auto want = expect_global(layer.inputs, torch_cpu_contract());
  // v = 3/4 ln 3. S: 1/2 v, then 1/4 v + 1/2 (v - 1/4 v) = 5/8 v; o = S. The norm of one number
  // is its sign: ONORM = 2 * 3/4 ln 3, OUT = 3 times that. ln 3 as a float is off by 2^-24 at most.
  const double ln3 = std::log(3.0);
  const auto near = [&](size_t t, Tensor tensor, double value) {
    EXPECT_NEAR(want[t].at(tensor).value[0], value, 8 * 0x1p-24) << name_of(tensor) << t;
    // The layer of one does some hundred float32 operations on numbers below 8.
    EXPECT_LT(want[t].at(tensor).bound[0], 200 * 8 * 0x1p-24) << name_of(tensor) << t;
  };
  near(0, Tensor::BETA, 0.5);
  near(0, Tensor::G, -std::log(2.0));
  near(0, Tensor::V, 0.75 * ln3);
  near(0, Tensor::K, 1);
  near(0, Tensor::Q, 1);
  near(0, Tensor::S, 0.375 * ln3);
  near(0, Tensor::O, 0.375 * ln3);
  near(1, Tensor::S, 0.46875 * ln3);
  near(1, Tensor::O, 0.46875 * ln3);
  near(1, Tensor::ONORM, 1.5 * ln3);
  near(1, Tensor::OUT, 4.5 * ln3);
}

TEST(Layer, AnEngineThatOnlyRoundsPassesBothChecks) {
  const SmallLayer layer(6);
  const Contract contract = torch_cpu_contract();
  const auto global = expect_global(layer.inputs, contract);
  const auto seen = as_seen(global);
  EXPECT_TRUE(all_hold(judge(seen, global)));
}

TEST(Layer, TheLocalCheckFollowsTheEnginesOwnNumbers) {
  // Numbers that no float32 error explains globally are right locally where the operators between
  // them are: OUT is from the ONORM that was read back.
  const SmallLayer layer(1);
  const Contract contract = torch_cpu_contract();
  auto seen = as_seen(expect_global(layer.inputs, contract));
  for (float& number : seen[0][Tensor::ONORM]) number *= 2;
  for (float& number : seen[0][Tensor::OUT]) number *= 2;
  const auto local = judge(seen, expect_local(layer.inputs, seen, contract));
  EXPECT_EQ(outcome_of(local, "ONORM"), Outcome::fails);
  EXPECT_EQ(outcome_of(local, "OUT"), Outcome::holds);
  EXPECT_EQ(outcome_of(judge(seen, expect_global(layer.inputs, contract)), "OUT"), Outcome::fails);
}

TEST(Layer, HistoryIsTheLastInputsOfTheConvolutionOldestFirst) {
  const SmallLayer layer(3);
  const Contract contract = torch_cpu_contract();
  auto seen = as_seen(expect_global(layer.inputs, contract));
  for (TokenTensors& token : seen) token.erase(Tensor::HIST);
  const auto want = expect_local(layer.inputs, seen, contract);
  std::vector<float> last = seen[1].at(Tensor::QKV);
  last.insert(last.end(), seen[2].at(Tensor::QKV).begin(), seen[2].at(Tensor::QKV).end());
  EXPECT_TRUE(same_bits("HIST", last,
                        std::vector<float>(want[2].at(Tensor::HIST).value.begin(),
                                           want[2].at(Tensor::HIST).value.end()))
                  .holds());
  EXPECT_TRUE(want[2].at(Tensor::HIST).bound.empty());
  // Before a first token the history is zero.
  const std::vector<double>& first = want[0].at(Tensor::HIST).value;
  EXPECT_EQ(first[0], 0);
  EXPECT_EQ(static_cast<float>(first[10]), seen[0].at(Tensor::QKV)[0]);
}

TEST(Layer, AnEngineThatForgetsItsHistoryFails) {
  const SmallLayer layer(3);
  const Contract contract = torch_cpu_contract();
  auto seen = as_seen(expect_global(layer.inputs, contract));
  std::fill(seen[1][Tensor::HIST].begin(), seen[1][Tensor::HIST].end(), 0.0F);
  EXPECT_EQ(outcome_of(judge(seen, expect_local(layer.inputs, seen, contract)), "HIST"),
            Outcome::fails);
}

TEST(Layer, AnEngineThatLosesItsStateBetweenTokensFails) {
  const SmallLayer layer(3);
  const Contract contract = torch_cpu_contract();
  const auto whole = as_seen(expect_global(layer.inputs, contract));
  // A second run that starts at token 1 with an empty state, behind the first run's token 0.
  LayerInputs later = layer.inputs;
  later.h.erase(later.h.begin());
  const auto lost = as_seen(expect_global(later, contract));
  const std::vector<TokenTensors> seen = {whole[0], lost[0], lost[1]};
  const auto rows = judge(seen, expect_local(layer.inputs, seen, contract));
  EXPECT_EQ(outcome_of(rows, "S"), Outcome::fails);
  EXPECT_EQ(outcome_of(rows, "O"), Outcome::holds);
}

TEST(Layer, WithoutStatesTheRecurrenceRunsOnTheInputsThatWereSeen) {
  SmallLayer layer(4);
  layer.inputs.calls = {3, 1};
  const Contract contract = torch_cpu_contract();
  const auto global = expect_global(layer.inputs, contract);
  auto seen = as_seen(global);
  for (TokenTensors& token : seen) {
    for (const Tensor absent : {Tensor::S, Tensor::Q, Tensor::K, Tensor::V}) token.erase(absent);
  }
  const auto want = expect_local(layer.inputs, seen, contract);
  EXPECT_TRUE(all_hold(judge(seen, want)));
  // The state is known after each call.
  EXPECT_FALSE(want[1].contains(Tensor::S));
  ASSERT_TRUE(want[2].contains(Tensor::S));
  ASSERT_TRUE(want[3].contains(Tensor::S));
  // Seen inputs are exact, so that their bound is below that of the whole layer.
  EXPECT_LT(want[3].at(Tensor::S).bound[0], global[3].at(Tensor::S).bound[0]);
}

TEST(Layer, WhatWasNotSeenOrHasAWrongSizeIsNotExpectedOfOthers) {
  const SmallLayer layer(2);
  const Contract contract = torch_cpu_contract();
  auto seen = as_seen(expect_global(layer.inputs, contract));
  seen[0].erase(Tensor::O);
  seen[1][Tensor::A].push_back(0);
  const auto want = expect_local(layer.inputs, seen, contract);
  EXPECT_FALSE(want[0].contains(Tensor::ONORM));
  EXPECT_TRUE(want[1].contains(Tensor::ONORM));
  EXPECT_FALSE(want[1].contains(Tensor::BETA));
  EXPECT_EQ(outcome_of(judge(seen, want), "A"), Outcome::fails);
}

TEST(Layer, CallsDoNotMatterToATokenLoop) {
  SmallLayer layer(5);
  const Contract contract = any_f32_contract();
  layer.inputs.calls = {1, 1, 1, 1, 1};
  const auto single = expect_global(layer.inputs, contract);
  layer.inputs.calls = {4, 1};
  const auto joined = expect_global(layer.inputs, contract);
  for (size_t t = 0; t < 5; ++t) {
    EXPECT_EQ(single[t].at(Tensor::OUT).value, joined[t].at(Tensor::OUT).value);
    EXPECT_EQ(single[t].at(Tensor::OUT).bound, joined[t].at(Tensor::OUT).bound);
  }
}

TEST(Layer, ANarrowStoreWidensWhatFollows) {
  // bf16 has 8 bits: around 1 its numbers are 2^-8 apart below and 2^-7 above. 1 + 2^-10 is stored
  // as 1 by every engine within 2^-10 of it, so that what follows is off by 2^-10.
  Bounded stored;
  stored.value = {1 + 0x1p-10, -3};
  stored.bound = {0x1p-11, 0};
  stored.stored = Format::bf16;
  const Bounded read = as_read_later(stored);
  EXPECT_EQ(read.stored, Format::f32);
  EXPECT_NEAR(read.bound[0], 0x1p-10, 0x1p-38);
  EXPECT_EQ(read.bound[1], 0);
  EXPECT_EQ(read.value, stored.value);
}

TEST(Layer, AToleratedResultGoesOnIntoTheBoundOfWhatFollows) {
  Bounded result;
  result.value = {3, 5, -2, -infinity};
  result.bound = {0x1p-20, 0, 0.25, 0};
  result.tolerated = {
      {0, 0.0F, "a plain norm's overflow"}, {2, -HUGE_VALF, "an overflow"}, {3, 0.0F, "a limit"}};
  const Bounded next = as_read_later(result);
  EXPECT_TRUE(next.tolerated.empty());
  EXPECT_NEAR(next.bound[0], 3, 0x1p-28);  // from 3 down to 0
  EXPECT_EQ(next.bound[1], 0);
  EXPECT_EQ(next.bound[2], infinity);
  EXPECT_TRUE(std::isfinite(next.value[3]) && next.bound[3] == infinity) << "undecided";
}

}  // namespace
}  // namespace gdn
