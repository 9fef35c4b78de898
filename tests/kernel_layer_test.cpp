// The kernels gates, conv, qk_norm and gated_norm on the simulator: by hand, against the reference
// with the contract that they declare, and the same bits in every launch.
#include "device/kernels/conv.cuh"
#include "device/kernels/gated_norm.cuh"
#include "device/kernels/gates.cuh"
#include "device/kernels/qk_norm.cuh"
#include "reference/operators.h"
#include "tests/simulated_kernels.h"

namespace gdn {
namespace {

const float nan_f = std::numeric_limits<float>::quiet_NaN();

struct GateNumbers {
  std::vector<float> a, b, A_log, dt_bias;
};

// beta, then g.
std::vector<float> gates_of(const GateNumbers& in, uint64_t order_seed = 0, unsigned threads = 32) {
  SimulatedMachine machine(order_seed);
  const size_t count = in.a.size();
  const auto heads = static_cast<int64_t>(count);
  float* const out = machine.fresh<float>(2 * count);
  machine.run<kernels::gates>(kernels::gates_shape(heads, threads), {{machine.put(in.a)},
                                                                     {machine.put(in.b)},
                                                                     {machine.put(in.A_log)},
                                                                     {machine.put(in.dt_bias)},
                                                                     {out},
                                                                     {out + count},
                                                                     heads});
  return machine.get(out, 2 * count);
}

TEST(KernelGates, FollowTheFormulaByHand) {
  // x = 1: softplus is 1.3132617. x = 30: 30. x = -30: exp(-30 + A_log), here exp(-28).
  const std::vector<float> out =
      gates_of({{1, 30, -30, 0}, {0, 0, 0, 100}, {0, 0, 2, 0}, {0, 0, 0, 0}});
  EXPECT_EQ(out[0], 0.5F);
  EXPECT_EQ(out[3], 1.0F);
  EXPECT_FLOAT_EQ(out[4], -1.3132617F);
  EXPECT_EQ(out[5], -30.0F);
  EXPECT_FLOAT_EQ(out[6], -6.9144e-13F);
  EXPECT_FLOAT_EQ(out[7], -0.6931472F);
}

// exp(100) overflows and softplus(-200) underflows: g is -exp(-100), a decay of 1.
TEST(KernelGates, AnOverflowingAmplitudeMeetsNoZero) {
  const std::vector<float> out = gates_of({{-200}, {0}, {100}, {0}});
  EXPECT_FLOAT_EQ(out[1], -3.783506e-44F);
}

TEST(KernelGates, StayWithinTheBoundOnBothSidesOfTheThresholds) {
  Rng rng(1);
  GateNumbers in;
  for (const float x :
       {-104.0F, -90.0F, -20.5F, -20.0F, -19.5F, 0.0F, 19.5F, 20.0F, 20.5F, 90.0F}) {
    for (const float A_log : {-90.0F, -3.0F, 0.0F, 3.0F, 80.0F}) {
      in.a.push_back(x + rng.signed_unit() * 0.25F);
      in.b.push_back(x + rng.signed_unit() * 0.25F);
      in.A_log.push_back(A_log + rng.signed_unit());
      in.dt_bias.push_back(rng.signed_unit() * 0.25F);
    }
  }
  const std::vector<float> out = same_in_every_launch(
      {32, 7, 64}, [&](uint64_t order, unsigned threads) { return gates_of(in, order, threads); });
  const Gates want =
      gates(exactly(in.a), exactly(in.b), in.A_log, in.dt_bias, Dialect{}, kernel_contract());
  expect_within("beta", std::span(out).first(in.a.size()), want.beta);
  expect_within("g", std::span(out).last(in.a.size()), want.g);
}

struct Convolved {
  std::vector<float> y, history;
};

Convolved convolved(const std::vector<float>& x, const std::vector<float>& weight,
                    const std::vector<float>& history, uint64_t order_seed = 0,
                    unsigned threads = 64) {
  SimulatedMachine machine(order_seed);
  const auto channels = static_cast<int64_t>(x.size());
  const int64_t taps = static_cast<int64_t>(weight.size()) / channels;
  float* const held = machine.put(history);
  float* const y = machine.fresh<float>(x.size());
  machine.run<kernels::conv>(
      kernels::conv_shape(channels, taps, threads),
      {{machine.put(x)}, {machine.put(weight)}, {held}, {y}, channels, taps});
  return {machine.get(y, x.size()), machine.get(held, history.size())};
}

// The sum 4321 is so large that its sigmoid is 1.
TEST(KernelConv, TakesTheOldestFirstAndKeepsItsInput) {
  const Convolved got = convolved({4}, {1, 10, 100, 1000}, {1, 2, 3});
  EXPECT_EQ(got.y, std::vector<float>{4321});
  EXPECT_EQ(got.history, (std::vector<float>{2, 3, 4}));
}

TEST(KernelConv, WithoutAHistoryIsOneProduct) {
  const Convolved got = convolved({3, 200}, {0, 2}, {});
  EXPECT_EQ(got.y, (std::vector<float>{0, 400}));
}

TEST(KernelConv, StaysWithinTheBoundAtEveryNumberOfTaps) {
  Rng rng(2);
  for (const int64_t taps : {1, 2, 3, 4, 5, 6, 8, 9, 10, 17}) {
    for (const int64_t channels : {1, 70}) {
      SCOPED_TRACE(testing::Message() << taps << " taps, " << channels << " channels");
      const std::vector<float> history = drawn(rng, (taps - 1) * channels, 4);
      const std::vector<float> x = drawn(rng, channels, 4);
      const std::vector<float> weight = drawn(rng, taps * channels);
      const std::vector<float> y =
          same_in_every_launch({64, 33}, [&](uint64_t order, unsigned threads) {
            return convolved(x, weight, history, order, threads).y;
          });
      std::vector<float> window = history;
      window.insert(window.end(), x.begin(), x.end());
      expect_within("y", y, conv(exactly(window), weight, channels, kernel_contract()));
      const std::vector<float> newest(window.begin() + channels, window.end());
      EXPECT_EQ(convolved(x, weight, history).history, newest);
    }
  }
}

// Four older taps are taken at a time, the newest apart: both sides of one, two and three rounds.
TEST(KernelConv, HasTheBitsOfTheSerialOrder) {
  Rng rng(7);
  const int64_t channels = 70;
  for (const int64_t taps : {1, 2, 4, 5, 6, 9, 10, 13, 14}) {
    SCOPED_TRACE(testing::Message() << taps << " taps");
    const std::vector<float> history = drawn(rng, (taps - 1) * channels, 4);
    const std::vector<float> x = drawn(rng, channels, 4);
    const std::vector<float> weight = drawn(rng, taps * channels);
    std::vector<float> want;
    for (int64_t c = 0; c < channels; ++c) {
      std::vector<float> window;
      for (int64_t tap = 0; tap + 1 < taps; ++tap) window.push_back(history[tap * channels + c]);
      window.push_back(x[c]);
      const auto w = std::span(weight).subspan(c * taps, taps);
      want.push_back(silu_f32(walked_sum(kernel_contract().conv, w, window)));
    }
    expect_same("y", convolved(x, weight, history).y, want);
  }
}

// q normed, then k normed. q and k lie one after the other, behind one more number: so they are
// aligned to four bytes alone, as slices of the conv's output are.
std::vector<float> normed(const std::vector<float>& q_and_k, const Shape& shape,
                          uint64_t order_seed = 0, unsigned threads = 32) {
  SimulatedMachine machine(order_seed);
  std::vector<float> padded = {nan_f};
  padded.insert(padded.end(), q_and_k.begin(), q_and_k.end());
  const float* const in = machine.put(padded) + 1;
  const size_t count = q_and_k.size() / 2;
  float* const out = machine.fresh<float>(2 * count);
  machine.run<kernels::qk_norm>(
      kernels::qk_norm_shape(shape.num_k_heads, shape.head_k_dim, threads),
      {{in},
       {in + count},
       {out},
       {out + count},
       shape.num_k_heads,
       shape.head_k_dim,
       shape.l2norm_eps,
       kernels::q_scale_of(shape.head_k_dim)});
  return machine.get(out, 2 * count);
}

// 128 equal elements a of length sqrt(128 a^2 / (128 a^2 + 1e-6)): 1, 0.99996, 0.99612, 0.74927, 0.
TEST(KernelQkNorm, EpsIsAddedToTheSumOfSquares) {
  const double lengths[] = {1.0, 0.99996, 0.99612, 0.74927, 0.0};
  const float elements[] = {1.0F, 1e-2F, 1e-3F, 1e-4F, 0.0F};
  for (int i = 0; i < 5; ++i) {
    const Shape shape = {.num_k_heads = 1, .head_k_dim = 128, .num_v_heads = 1, .head_v_dim = 1};
    const std::vector<float> out = normed(std::vector<float>(256, elements[i]), shape);
    EXPECT_NEAR(out[255] * std::sqrt(128.0), lengths[i], 1e-5) << "element " << elements[i];
    EXPECT_NEAR(out[0] * 128.0, lengths[i], 1e-5) << "q has a factor 1/sqrt(128) more";
  }
}

TEST(KernelQkNorm, StaysWithinTheBoundAtOddShapes) {
  Rng rng(3);
  for (const auto& [heads, dim] : {std::pair{1, 1}, {1, 5}, {3, 33}, {2, 128}, {5, 130}}) {
    for (const float scale : {1.0F, 0x1p-60F, 0x1p50F}) {
      SCOPED_TRACE(testing::Message() << heads << " heads of " << dim << ", scale " << scale);
      const Shape shape = {
          .num_k_heads = heads, .head_k_dim = dim, .num_v_heads = heads, .head_v_dim = 1};
      const int64_t count = shape.k_dim();
      const std::vector<float> x = drawn(rng, 2 * count, scale);
      const std::vector<float> out = same_in_every_launch(
          {32, 64, 128},
          [&](uint64_t order, unsigned threads) { return normed(x, shape, order, threads); });
      const Bounded all = exactly(x);
      const size_t n = static_cast<size_t>(count);
      const NormedQk want =
          qk_norm(slice(all, 0, n), slice(all, n, n), shape, Dialect{}, kernel_contract());
      expect_within("q", std::span(out).first(n), want.q);
      expect_within("k", std::span(out).last(n), want.k);
    }
  }
}

TEST(KernelQkNorm, AddsSquaresInTheDeclaredOrder) {
  Rng rng(4);
  const Shape shape = {.num_k_heads = 1, .head_k_dim = 45, .num_v_heads = 1, .head_v_dim = 1};
  const std::vector<float> x = drawn(rng, 90);
  const auto k = std::span(x).last(45);
  const float sum = walked_sum(kernel_contract().qk_norm, k, k);
  const float factor = rsqrt_f32(sum + shape.l2norm_eps);
  std::vector<float> want;
  for (const float element : k) want.push_back(element * factor);
  const std::vector<float> out = normed(x, shape);
  expect_same("k", std::span(out).last(45), want);
}

TEST(KernelQkNorm, NanStaysInItsHead) {
  const Shape shape = {.num_k_heads = 2, .head_k_dim = 2, .num_v_heads = 2, .head_v_dim = 1};
  const std::vector<float> out = normed({nan_f, 1, 3, 4, 1, 0, HUGE_VALF, 1}, shape);
  EXPECT_TRUE(std::isnan(out[0]) && std::isnan(out[1]));
  EXPECT_TRUE(std::isfinite(out[2]) && std::isfinite(out[5]));
  EXPECT_TRUE(std::isnan(out[6]));
  EXPECT_EQ(out[7], 0.0F);
}

struct NormNumbers {
  std::vector<float> o, z, w;
};

std::vector<float> gated(const NormNumbers& in, const Shape& shape, uint64_t order_seed = 0,
                         unsigned threads = 32) {
  SimulatedMachine machine(order_seed);
  float* const y = machine.fresh<float>(in.o.size());
  machine.run<kernels::gated_norm>(
      kernels::gated_norm_shape(shape.num_v_heads, shape.head_v_dim, threads),
      {{machine.put(in.o)},
       {machine.put(in.z)},
       {machine.put(in.w)},
       {y},
       shape.num_v_heads,
       shape.head_v_dim,
       shape.rms_norm_eps});
  return machine.get(y, in.o.size());
}

// o = 3, 4: mean square 12.5; 3 / sqrt(12.5) = 0.848528. silu(200) = 200, silu(-200) = -0.
TEST(KernelGatedNorm, FollowsTheFormulaByHand) {
  const Shape shape = {.num_k_heads = 1, .head_k_dim = 1, .num_v_heads = 1, .head_v_dim = 2};
  const std::vector<float> y = gated({{3, 4}, {200, -200}, {0.5F, 1}}, shape);
  EXPECT_NEAR(y[0], 84.8528, 1e-3);
  EXPECT_EQ(y[1], 0.0F);
}

TEST(KernelGatedNorm, StaysWithinTheBoundAtOddShapes) {
  Rng rng(5);
  for (const auto& [heads, dim] : {std::pair{1, 1}, {1, 5}, {3, 33}, {2, 128}, {5, 130}}) {
    for (const float scale : {1.0F, 0x1p-60F, 0x1p50F}) {
      SCOPED_TRACE(testing::Message() << heads << " heads of " << dim << ", scale " << scale);
      const Shape shape = {
          .num_k_heads = heads, .head_k_dim = 1, .num_v_heads = heads, .head_v_dim = dim};
      const NormNumbers in = {drawn(rng, shape.v_dim(), scale), drawn(rng, shape.v_dim(), 30),
                              drawn(rng, dim)};
      const std::vector<float> y = same_in_every_launch(
          {32, 64, 128},
          [&](uint64_t order, unsigned threads) { return gated(in, shape, order, threads); });
      expect_within("y", y,
                    gated_norm(exactly(in.o), exactly(in.z), in.w, shape, kernel_contract()));
    }
  }
}

}  // namespace
}  // namespace gdn
