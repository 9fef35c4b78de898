// The kernel delta_rule on the simulator: by hand, against the reference with the contract that it
// declares, bit for bit in the declared order, and the same bits in every launch.
#include "device/kernels/delta_rule.cuh"
#include "reference/recurrence.h"
#include "tests/simulated_kernels.h"

namespace gdn {
namespace {

struct Token {
  std::vector<float> q, k, v, g, gk, beta, S;
  bool tiled = false;
  bool linear = false;
};

struct Result {
  std::vector<float> S, o;
};

Shape shape_of(int64_t kh, int64_t kd, int64_t vh, int64_t vd) {
  return {.num_k_heads = kh, .head_k_dim = kd, .num_v_heads = vh, .head_v_dim = vd};
}

// q, k and v lie one after the other behind one more number, aligned to four bytes alone.
Result after(const Token& token, const Shape& shape, uint64_t order_seed = 0,
             unsigned threads = 128) {
  SimulatedMachine machine(order_seed);
  std::vector<float> conv = {0};
  for (const auto* part : {&token.q, &token.k, &token.v}) {
    conv.insert(conv.end(), part->begin(), part->end());
  }
  const float* const q = machine.put(conv) + 1;
  float* const S = machine.put(token.S);
  float* const o = machine.fresh<float>(token.v.size());
  const kernels::DeltaRule params = {.q = {q},
                                     .k = {q + token.q.size()},
                                     .v = {q + token.q.size() + token.k.size()},
                                     .g = {token.g.empty() ? nullptr : machine.put(token.g)},
                                     .gk = {token.gk.empty() ? nullptr : machine.put(token.gk)},
                                     .beta = {machine.put(token.beta)},
                                     .S = {S},
                                     .o = {o},
                                     .k_heads = shape.num_k_heads,
                                     .kd = shape.head_k_dim,
                                     .v_heads = shape.num_v_heads,
                                     .vd = shape.head_v_dim,
                                     .head_map_tiled = token.tiled ? 1 : 0,
                                     .g_is_linear = token.linear ? 1 : 0};
  machine.run<kernels::delta_rule>(
      kernels::delta_rule_shape(shape.num_v_heads, shape.head_k_dim, shape.head_v_dim, threads),
      params);
  return {machine.get(S, token.S.size()), machine.get(o, token.v.size())};
}

// State, then output.
std::vector<float> together(const Result& result) {
  std::vector<float> all = result.S;
  all.insert(all.end(), result.o.begin(), result.o.end());
  return all;
}

// Keys of length below 1; gates that forget slowly.
Token drawn_token(Rng& rng, const Shape& shape, bool has_g, bool has_gk) {
  Token token;
  const float unit = 1 / std::sqrt(static_cast<float>(shape.head_k_dim));
  token.q = drawn(rng, shape.k_dim(), unit);
  token.k = drawn(rng, shape.k_dim(), unit);
  token.v = drawn(rng, shape.v_dim());
  token.S = drawn(rng, shape.state_count());
  for (int64_t i = 0; i < shape.num_v_heads; ++i) {
    token.beta.push_back(rng.unit());
    if (has_g) token.g.push_back(-rng.unit());
    for (int64_t r = 0; has_gk && r < shape.head_k_dim; ++r) token.gk.push_back(-rng.unit());
  }
  return token;
}

// The same token in float32, each sum in the declared order.
Result walked(const Token& token, const Shape& shape) {
  const auto kd = static_cast<size_t>(shape.head_k_dim);
  const auto vd = static_cast<size_t>(shape.head_v_dim);
  const Contract contract = kernel_contract();
  Result result{token.S, {}};
  for (size_t head = 0; head < static_cast<size_t>(shape.num_v_heads); ++head) {
    const auto kh = static_cast<size_t>(shape.num_k_heads);
    const size_t k_head =
        token.tiled ? head % kh : head / static_cast<size_t>(shape.v_heads_per_k_head());
    const auto k = std::span(token.k).subspan(k_head * kd, kd);
    const auto q = std::span(token.q).subspan(k_head * kd, kd);
    for (size_t j = 0; j < vd; ++j) {
      std::vector<float> column(kd);
      for (size_t i = 0; i < kd; ++i) {
        column[i] = result.S[(head * kd + i) * vd + j];
        if (!token.g.empty()) column[i] *= token.linear ? token.g[head] : exp_f32(token.g[head]);
        if (!token.gk.empty()) column[i] *= exp_f32(token.gk[head * kd + i]);
      }
      const float u = walked_sum(contract.delta_u, column, k);
      const float d = token.beta[head] * (token.v[head * vd + j] - u);
      for (size_t i = 0; i < kd; ++i) {
        column[i] = std::fma(k[i], d, column[i]);
        result.S[(head * kd + i) * vd + j] = column[i];
      }
      result.o.push_back(walked_sum(contract.delta_o, column, q));
    }
  }
  return result;
}

// What the reference says of the state, and of the output from the state that came.
void expect_within_bounds(const Token& token, const Shape& shape, const Result& got) {
  Dialect dialect;
  if (token.tiled) dialect.head_map = Dialect::HeadMap::tiled;
  if (token.linear) dialect.gate_input = Dialect::GateInput::linear_alpha;
  const TokenInputs in{.q = exactly(token.q),
                       .k = exactly(token.k),
                       .v = exactly(token.v),
                       .g = exactly(token.g),
                       .gk = exactly(token.gk),
                       .beta = exactly(token.beta)};
  const Contract contract = kernel_contract();
  expect_within("S", got.S, delta_rule_state(token.S, in, shape, dialect, contract));
  expect_within("o", got.o, delta_rule_output(got.S, in.q, shape, dialect, contract));
}

void expect_right(const Token& token, const Shape& shape) {
  SCOPED_TRACE(testing::Message() << "kh " << shape.num_k_heads << ", kd " << shape.head_k_dim
                                  << ", vh " << shape.num_v_heads << ", vd " << shape.head_v_dim);
  same_in_every_launch({128, 32, 64, 256}, [&](uint64_t order, unsigned threads) {
    return together(after(token, shape, order, threads));
  });
  const Result got = after(token, shape);
  expect_same("declared order", together(got), together(walked(token, shape)));
  expect_within_bounds(token, shape, got);
}

// S = 1 decays to 1/2 before it is read: u = 1/2, d = 0 - 1/2, S = 0.
TEST(KernelDeltaRule, DecaysBeforeItTakesTheError) {
  const Result got =
      after({.q = {1}, .k = {1}, .v = {0}, .g = {-0.69314718F}, .gk = {}, .beta = {1}, .S = {1}},
            shape_of(1, 1, 1, 1));
  EXPECT_EQ(got.o, std::vector<float>{0});
  EXPECT_EQ(got.S, std::vector<float>{0});
}

TEST(KernelDeltaRule, WritesTheDifferenceAndReadsTheUpdatedState) {
  const Shape shape = shape_of(1, 1, 1, 1);
  const Token first = {.q = {1}, .k = {1}, .v = {1}, .g = {0}, .gk = {}, .beta = {1}, .S = {0}};
  Token second = first;
  second.v = {5};
  second.S = after(first, shape).S;
  EXPECT_EQ(after(first, shape).o, std::vector<float>{1});
  EXPECT_EQ(after(second, shape).o, std::vector<float>{5});
}

// S is zero but for S[k = 0][v = 1] = 1, and q = e0: o = e1.
TEST(KernelDeltaRule, HoldsRowsOfKeysAndColumnsOfValues) {
  for (const int64_t vd : {2, 3, 8}) {
    const Shape shape = shape_of(1, 2, 1, vd);
    Token token = {.q = {1, 0},
                   .k = {0, 0},
                   .v = std::vector<float>(static_cast<size_t>(vd), 0.0F),
                   .g = {0},
                   .gk = {},
                   .beta = {0},
                   .S = std::vector<float>(static_cast<size_t>(2 * vd), 0.0F)};
    token.S[1] = 1;
    std::vector<float> want(static_cast<size_t>(vd), 0.0F);
    want[1] = 1;
    EXPECT_EQ(after(token, shape).o, want);
  }
}

// kd = vd = 1, S = 0, beta = 1, v = 1, 2, ... by head; q k is 1 for k-head 0 and 1/2 for k-head 1.
TEST(KernelDeltaRule, SharesKeyHeadsInGroupsOrTiles) {
  const Shape shape = shape_of(2, 1, 6, 1);
  Token token = {.q = {1, 0.5F},
                 .k = {1, 1},
                 .v = {1, 2, 3, 4, 5, 6},
                 .g = std::vector<float>(6, 0.0F),
                 .gk = {},
                 .beta = std::vector<float>(6, 1.0F),
                 .S = std::vector<float>(6, 0.0F)};
  EXPECT_EQ(after(token, shape).o, (std::vector<float>{1, 2, 3, 2, 2.5F, 3}));
  token.tiled = true;
  EXPECT_EQ(after(token, shape).o, (std::vector<float>{1, 1, 3, 2, 5, 3}));
}

TEST(KernelDeltaRule, HasTheBitsOfItsDeclaredOrderAtOddShapes) {
  Rng rng(1);
  const Shape shapes[] = {shape_of(1, 1, 1, 1),   shape_of(1, 5, 1, 3),   shape_of(2, 7, 4, 9),
                          shape_of(1, 33, 3, 20), shape_of(2, 16, 10, 4), shape_of(1, 17, 2, 70),
                          shape_of(1, 128, 1, 36)};
  for (const Shape& shape : shapes) expect_right(drawn_token(rng, shape, true, false), shape);
}

// More rows than its threads hold at once: S is read twice.
TEST(KernelDeltaRule, ServesHeadsOfMoreThan128Rows) {
  Rng rng(2);
  for (const Shape& shape : {shape_of(1, 130, 2, 12), shape_of(1, 300, 1, 5)}) {
    expect_right(drawn_token(rng, shape, true, false), shape);
    expect_right(drawn_token(rng, shape, true, true), shape);
  }
}

TEST(KernelDeltaRule, ServesEveryFormOfDecay) {
  Rng rng(3);
  const Shape shape = shape_of(2, 19, 4, 8);
  expect_right(drawn_token(rng, shape, false, true), shape);
  expect_right(drawn_token(rng, shape, true, true), shape);
  Token token = drawn_token(rng, shape, true, false);
  token.tiled = true;
  token.linear = true;
  for (float& g : token.g) g = rng.unit();
  expect_right(token, shape);
}

TEST(KernelDeltaRule, StaysWithinTheBoundAtTinyScales) {
  Rng rng(4);
  const Shape shape = shape_of(1, 20, 2, 8);
  Token token = drawn_token(rng, shape, true, false);
  for (auto* numbers : {&token.v, &token.S}) {
    for (float& x : *numbers) x *= 0x1p-140F;
  }
  expect_within_bounds(token, shape, after(token, shape));
}

TEST(KernelDeltaRule, ANanStaysInItsColumnAndHead) {
  Rng rng(5);
  const Shape shape = shape_of(1, 3, 2, 5);
  Token token = drawn_token(rng, shape, true, false);
  token.v[1] = std::numeric_limits<float>::quiet_NaN();
  const Result got = after(token, shape);
  for (size_t i = 0; i < got.o.size(); ++i) EXPECT_EQ(std::isnan(got.o[i]), i == 1) << i;
  for (size_t i = 0; i < got.S.size(); ++i) {
    EXPECT_EQ(std::isnan(got.S[i]), i < 15 && i % 5 == 1) << i;
  }
}

}  // namespace
}  // namespace gdn
