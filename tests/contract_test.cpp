// Contracts: the longest chain of a reduction by hand and by counting, and the ready-made ones.
#include "reference/contract.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "reference/bound.h"

namespace gdn {
namespace {

using Stage = Reduction::Stage;
using Kind = Reduction::Kind;

Reduction in_order(std::vector<Stage> stages) {
  return {.kind = Kind::order, .stages = std::move(stages)};
}

Reduction of_depth(double a, double b, double c, double d) {
  return {
      .kind = Kind::depth, .depth_a = a, .depth_b = b, .depth_c = c, .depth_d = d, .stages = {}};
}

TEST(Depth, OfAnUnknownOrderIsAllButOne) {
  EXPECT_EQ(depth_of({}, 1), 0);
  EXPECT_EQ(depth_of({}, 2), 1);
  EXPECT_EQ(depth_of({}, 5120), 5119);
}

TEST(Depth, IsTheDeclaredFormula) {
  EXPECT_EQ(depth_of(of_depth(0, 1, 128, 1), 5120), 40 + 13);  // 5120 / 128, log2 5120 = 12.3
  EXPECT_EQ(depth_of(of_depth(2, 1, 32, 0), 65), 2 + 3);
  EXPECT_EQ(depth_of(of_depth(0, 0, 1, 1), 128), 7);
  EXPECT_EQ(depth_of(of_depth(0, 0, 1, 1), 129), 8);
}

TEST(Depth, IsNeverAboveAllButOne) {
  EXPECT_EQ(depth_of(of_depth(100, 1, 1, 1), 8), 7);
  EXPECT_EQ(depth_of(of_depth(100, 1, 1, 1), 1), 0);
}

TEST(Depth, OfDeclaredStagesIsTheirSumByHand) {
  const Stage serial{.kind = Stage::Kind::serial};
  const Stage adjacent{.kind = Stage::Kind::tree_adjacent};
  const Stage halves{.kind = Stage::Kind::tree_halves};
  const Stage stride_32{.kind = Stage::Kind::stride, .size = 32};
  const Stage block_128{.kind = Stage::Kind::block, .size = 128};
  EXPECT_EQ(depth_of(in_order({serial}), 5120), 5119);
  EXPECT_EQ(depth_of(in_order({adjacent}), 5), 3);
  EXPECT_EQ(depth_of(in_order({halves}), 128), 7);
  EXPECT_EQ(depth_of(in_order({stride_32, halves}), 5120), 159 + 5);
  EXPECT_EQ(depth_of(in_order({stride_32, halves}), 20), 0 + 5);  // 20 accumulators of one
  EXPECT_EQ(depth_of(in_order({block_128, adjacent}), 5120), 127 + 6);
  EXPECT_EQ(depth_of(in_order({block_128, serial}), 129), 127 + 1);
}

TEST(Depth, SumsSeriallyWhatTheStagesLeaveOver) {
  EXPECT_EQ(depth_of(in_order({}), 10), 9);
  EXPECT_EQ(depth_of(in_order({{.kind = Stage::Kind::stride, .size = 4}}), 16), 3 + 3);
}

// The chain of every element, counted addition by addition.
int64_t counted_depth(const std::vector<Stage>& stages, int64_t n) {
  std::vector<int64_t> chain(static_cast<size_t>(n), 0);
  const auto join = [](int64_t a, int64_t b) { return std::max(a, b) + 1; };
  for (const Stage& stage : stages) {
    std::vector<int64_t> next;
    const size_t size = static_cast<size_t>(stage.size);
    switch (stage.kind) {
      case Stage::Kind::stride:
        for (size_t i = 0; i < chain.size(); ++i) {
          if (i < size) {
            next.push_back(chain[i]);
          } else {
            next[i % size] = join(next[i % size], chain[i]);
          }
        }
        break;
      case Stage::Kind::block:
        for (size_t i = 0; i < chain.size(); ++i) {
          if (i % size == 0) {
            next.push_back(chain[i]);
          } else {
            next.back() = join(next.back(), chain[i]);
          }
        }
        break;
      case Stage::Kind::serial:
        next.push_back(chain[0]);
        for (size_t i = 1; i < chain.size(); ++i) next[0] = join(next[0], chain[i]);
        break;
      case Stage::Kind::tree_adjacent:
      case Stage::Kind::tree_halves:
        next = chain;
        while (next.size() > 1) {
          std::vector<int64_t> level;
          const size_t half = (next.size() + 1) / 2;
          const bool adjacent = stage.kind == Stage::Kind::tree_adjacent;
          for (size_t i = 0; i < half; ++i) {
            const size_t one = adjacent ? 2 * i : i;
            const size_t two = adjacent ? 2 * i + 1 : i + half;
            level.push_back(two < next.size() ? join(next[one], next[two]) : next[one]);
          }
          next = level;
        }
        break;
    }
    chain = next;
  }
  while (chain.size() > 1) {
    chain[0] = join(chain[0], chain[1]);
    chain.erase(chain.begin() + 1);
  }
  return chain[0];
}

TEST(Depth, OfDeclaredStagesIsTheLongestChainCounted) {
  std::vector<Stage> choices{{.kind = Stage::Kind::serial},
                             {.kind = Stage::Kind::tree_adjacent},
                             {.kind = Stage::Kind::tree_halves}};
  for (int64_t size : {1, 2, 3, 4, 7, 8, 32}) {
    choices.push_back({.kind = Stage::Kind::stride, .size = size});
    choices.push_back({.kind = Stage::Kind::block, .size = size});
  }
  for (int64_t n = 1; n <= 40; ++n) {
    for (const Stage& first : choices) {
      for (const Stage& second : choices) {
        const double got = depth_of(in_order({first, second}), n);
        ASSERT_EQ(got, double(counted_depth({first, second}, n))) << n;
      }
    }
  }
}

TEST(ReadyMadeContracts, LeaveEveryOrderFree) {
  for (const Contract& c : {torch_cpu_contract(), triton_contract(), any_f32_contract()}) {
    for (const Reduction* order :
         {&c.in_proj, &c.conv, &c.qk_norm, &c.delta_u, &c.delta_o, &c.gated_norm, &c.out_proj}) {
      EXPECT_EQ(order->kind, Kind::any) << c.name;
    }
    EXPECT_FALSE(c.flushes_subnormals) << c.name;
    EXPECT_EQ(c.activation_bits, 0) << c.name;
    EXPECT_EQ(c.gate_sum_form_below, -infinity) << c.name;
  }
}

TEST(ReadyMadeContracts, TorchIsChunkedAboveOneTokenWithIeeeDivision) {
  const Contract c = torch_cpu_contract();
  EXPECT_EQ(c.name, "torch_cpu");
  EXPECT_EQ(c.recurrence, Recurrence::chunked_row_inverse);
  EXPECT_EQ(c.chunk_tokens, 64);
  EXPECT_EQ(c.functions, FunctionErrors{});
  EXPECT_EQ(c.functions.division_ulp, 0.5);
  EXPECT_EQ(c.functions.exp_ulp, 2);
}

TEST(ReadyMadeContracts, TritonsExpIsOff4uPlus2uPerX) {
  const Contract c = triton_contract();
  EXPECT_EQ(c.name, "triton");
  EXPECT_EQ(2 * c.functions.exp_ulp, 4);  // an error of c ulp is 2 c u
  EXPECT_EQ(c.functions.exp_ulp_per_x, 2);
  EXPECT_EQ(2 * c.functions.division_ulp, 4);
  EXPECT_EQ(2 * c.functions.sqrt_ulp, 4);
  EXPECT_EQ(c.recurrence, Recurrence::token_loop);
}

TEST(ReadyMadeContracts, AnyF32LeavesTheFormOfDecayFree) {
  const Contract c = any_f32_contract();
  EXPECT_EQ(c.name, "any_f32");
  EXPECT_EQ(c.decay, DecayForm::any);
  EXPECT_EQ(c.functions, FunctionErrors{});
  EXPECT_EQ(c.recurrence, Recurrence::token_loop);
}

}  // namespace
}  // namespace gdn
