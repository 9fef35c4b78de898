// Small inputs that separate right from wrong, through apply on every engine; each number is
// worked out by hand.
#include <cmath>

#include "tests/opened_engine.h"

namespace gdn {
namespace {

using testing::apply;
using testing::array;
using testing::bits;
using testing::Opened;

const float ln_half = -0.693147180559945F;
constexpr double u = 0x1p-24;

gdn_shape heads(int64_t kh, int64_t kd, int64_t vh, int64_t vd) {
  gdn_shape shape = testing::small_shape(1);
  shape.num_k_heads = kh;
  shape.head_k_dim = kd;
  shape.num_v_heads = vh;
  shape.head_v_dim = vd;
  return shape;
}

// One token of the delta rule; S is advanced, o returned.
std::vector<float> token(const gdn_shape& shape, std::vector<float> q, std::vector<float> k,
                         std::vector<float> v, std::vector<float> g, std::vector<float> beta,
                         std::vector<float>& S) {
  const Opened engine;
  std::vector<float> o(v.size());
  EXPECT_EQ(apply(engine, GDN_DELTA_RULE, shape,
                  {array("q", q), array("k", k), array("v", v), array("g", g), array("beta", beta),
                   array("S", S)},
                  {array("S", S), array("o", o)}),
            GDN_OK)
      << engine.error();
  return o;
}

ON_EVERY_ENGINE(EngineDeltaRule);

TEST_P(EngineDeltaRule, DecaysBeforeTheErrorIsTaken) {
  std::vector<float> S = {1};
  EXPECT_EQ(token(heads(1, 1, 1, 1), {1}, {1}, {0}, {ln_half}, {1}, S)[0], 0.0F);
  EXPECT_EQ(S[0], 0.0F);
}

TEST_P(EngineDeltaRule, ReplacesWhatAKeyHeldBefore) {
  std::vector<float> S = {0};
  EXPECT_EQ(token(heads(1, 1, 1, 1), {1}, {1}, {1}, {0}, {1}, S)[0], 1.0F);
  EXPECT_EQ(token(heads(1, 1, 1, 1), {1}, {1}, {5}, {0}, {1}, S)[0], 5.0F);
}

TEST_P(EngineDeltaRule, TakesGInTheLogDomain) {
  std::vector<float> S = {1};
  EXPECT_EQ(token(heads(1, 1, 1, 1), {1}, {1}, {0}, {ln_half}, {0}, S)[0], 0.5F);
}

TEST_P(EngineDeltaRule, ReadsTheUpdatedState) {
  // k.q = 1 * 2 + 2 * 0.25 = 2.5 and v = (3, -4).
  std::vector<float> S(4, 0.0F);
  const auto o = token(heads(1, 2, 1, 2), {2, 0.25F}, {1, 2}, {3, -4}, {0}, {1}, S);
  EXPECT_EQ(o, (std::vector<float>{7.5F, -10.0F}));
}

TEST_P(EngineDeltaRule, SharesKeyHeadsInGroups) {
  for (const int64_t ratio : {2, 3}) {
    // Key head 0 has q.k = 1, key head 1 has q.k = 1/2, and v of head i is i + 1.
    std::vector<float> v, want;
    for (int64_t i = 0; i < 2 * ratio; ++i) {
      v.push_back(static_cast<float>(i + 1));
      want.push_back(i < ratio ? v.back() : v.back() / 2);
    }
    const std::vector<float> g(v.size(), 0.0F);
    const std::vector<float> beta(v.size(), 1.0F);
    std::vector<float> S(v.size() * 2, 0.0F);
    EXPECT_EQ(token(heads(2, 2, 2 * ratio, 1), {1, 0, 0.5F, 1}, {1, 0, 1, 0}, v, g, beta, S), want);
  }
}

TEST_P(EngineDeltaRule, StateIsKeyByValue) {
  for (const int64_t vd : {2, 3}) {
    std::vector<float> S(static_cast<size_t>(2 * vd), 0.0F);
    S[1] = 1;  // k = 0, v = 1
    std::vector<float> want(static_cast<size_t>(vd), 0.0F);
    want[1] = 1;
    const std::vector<float> v(static_cast<size_t>(vd), 0.0F);
    EXPECT_EQ(token(heads(1, 2, 1, vd), {1, 0}, {0, 1}, v, {0}, {0}, S), want);
  }
}

TEST_P(EngineDeltaRule, KeepsASlowDecayFor4096Tokens) {
  // 0.9985^4096 = 0.0021364 to its last digit. Each token errs by at most the rounding of
  // exp(g), 2u by contract with that of g, and of the product, u.
  const double rounding = 4096 * 3 * u * 0.0021364;
  std::vector<float> S = {1};
  const Opened engine;
  std::vector<float> one = {1}, zero = {0}, g = {static_cast<float>(std::log(0.9985))}, o = {0};
  for (int t = 0; t < 4096; ++t) {
    ASSERT_EQ(apply(engine, GDN_DELTA_RULE, heads(1, 1, 1, 1),
                    {array("q", one), array("k", one), array("v", zero), array("g", g),
                     array("beta", zero), array("S", S)},
                    {array("S", S), array("o", o)}),
              GDN_OK);
  }
  EXPECT_NEAR(o[0], 0.0021364, 0.5e-7 + rounding);
}

TEST_P(EngineDeltaRule, NeverGrowsWithoutInput) {
  // |k| <= 1, beta <= 1, v = 0. Each element of S is one product, a sum of kd = 4 products, and
  // three more roundings away from exact: gamma(8) of its column's norm at most.
  const gdn_shape shape = heads(1, 4, 1, 2);
  std::vector<float> S = testing::numbers(5, 8);
  const auto norm = [](const std::vector<float>& x) {
    double sum = 0;
    for (const float value : x) sum += double{value} * value;
    return std::sqrt(sum);
  };
  const double first = norm(S);
  for (uint64_t t = 0; t < 50; ++t) {
    std::vector<float> k = testing::numbers(t, 4);
    for (float& value : k) value /= 2;  // four elements below 1/2
    const double before = norm(S);
    token(shape, k, k, {0, 0}, {0}, {static_cast<float>(t % 3) / 2}, S);
    EXPECT_LE(norm(S), before * (1 + 8 * 4 * u));
  }
  EXPECT_LT(norm(S), first);
}

TEST_P(EngineDeltaRule, DecaysEachKeyChannelOnItsOwn) {
  // S = [[1], [1]], beta = 0, q = (1, 4): rows halve and stay, o = 0.5 + 4.
  const Opened engine;
  std::vector<float> q = {1, 4}, k = {1, 0}, v = {0}, gk = {ln_half, 0}, beta = {0}, S = {1, 1},
                     o = {0}, g = {ln_half};
  const std::vector<gdn_array> outputs = {array("S", S), array("o", o)};
  ASSERT_EQ(apply(engine, GDN_DELTA_RULE, heads(1, 2, 1, 1),
                  {array("q", q), array("k", k), array("v", v), array("gk", gk),
                   array("beta", beta), array("S", S)},
                  outputs),
            GDN_OK)
      << engine.error();
  EXPECT_EQ(o[0], 4.5F);
  // g and gk together: a quarter and a half of what began as ones.
  S = {1, 1};
  ASSERT_EQ(apply(engine, GDN_DELTA_RULE, heads(1, 2, 1, 1),
                  {array("q", q), array("k", k), array("v", v), array("g", g), array("gk", gk),
                   array("beta", beta), array("S", S)},
                  outputs),
            GDN_OK)
      << engine.error();
  EXPECT_EQ(o[0], 0.25F + 2.0F);
}

struct Gates {
  std::vector<float> beta = {0}, g = {0};
};

Gates gates(float a, float b, float A_log, float dt_bias) {
  const Opened engine;
  std::vector<float> as = {a}, bs = {b}, A = {A_log}, dt = {dt_bias};
  Gates result;
  EXPECT_EQ(apply(engine, GDN_GATES, heads(1, 1, 1, 1),
                  {array("a", as), array("b", bs), array("A_log", A), array("dt_bias", dt)},
                  {array("beta", result.beta), array("g", result.g)}),
            GDN_OK)
      << engine.error();
  return result;
}

ON_EVERY_ENGINE(EngineGates);

TEST_P(EngineGates, BetaComesFromBAndDecayFromA) {
  // sigmoid(0) = 1/2; softplus(100) = 100, times exp(0).
  const Gates result = gates(100, 0, 0, 0);
  EXPECT_EQ(result.beta[0], 0.5F);
  EXPECT_EQ(result.g[0], -100.0F);
}

TEST_P(EngineGates, ExponentiateALog) {
  // softplus(ln(e - 1)) = 1, so the decay is exp(-exp(A_log)). Literals hold to their last digit,
  // which is coarser than float32.
  const float x = 0.541324854612918F;
  EXPECT_NEAR(std::exp(double{gates(x, 0, -1, 0).g[0]}), 0.69220, 0.5e-5);
  EXPECT_NEAR(std::exp(double{gates(x, 0, 0, 0).g[0]}), 0.36788, 0.5e-5);
  EXPECT_NEAR(std::exp(double{gates(x, 0, 2, 0).g[0]}), 6.18e-4, 0.5e-6);
}

TEST_P(EngineGates, MeetNoInfinityTimesZero) {
  // g = -exp(100 - 200) = -3.72e-44, a subnormal: 26.5 units of 2^-149, so 26 or 27.
  const float g = gates(-150, 0, 100, -50).g[0];
  EXPECT_LE(g, -26 * 0x1p-149F);
  EXPECT_GE(g, -27 * 0x1p-149F);
  EXPECT_EQ(std::exp(g), 1.0F);
}

TEST_P(EngineGates, GoToMinusInfinityWhereTheExactValueDoes) {
  EXPECT_EQ(gates(5, 0, 100, 0).g[0], -INFINITY);
}

TEST_P(EngineGates, SoftplusAbove20IsLinear) {
  EXPECT_NEAR(std::exp(double{gates(60, 0, -5, 40).g[0]}), 0.50977, 0.5e-5);
  EXPECT_TRUE(std::isfinite(gates(1e4F, 0, -5, 0).g[0]));
}

TEST_P(EngineGates, PassNaNOn) {
  EXPECT_TRUE(std::isnan(gates(NAN, 0, 0, 0).g[0]));
  EXPECT_TRUE(std::isnan(gates(0, NAN, 0, 0).beta[0]));
}

double norm_of_equal_elements(float element) {
  const Opened engine;
  std::vector<float> q(128, element), k(128, element);
  EXPECT_EQ(apply(engine, GDN_QK_NORM, heads(1, 128, 1, 1), {array("q", q), array("k", k)},
                  {array("q", q), array("k", k)}),
            GDN_OK);
  double sum = 0;
  for (size_t i = 0; i < 128; ++i) {
    sum += double{k[i]} * k[i];
    // q is k / sqrt(128): one rounding of the root, of the quotient and of the product.
    EXPECT_NEAR(q[i], k[i] / std::sqrt(128.0), 3 * u * std::fabs(k[i]));
  }
  return std::sqrt(sum);
}

ON_EVERY_ENGINE(EngineQkNorm);

TEST_P(EngineQkNorm, AddsEpsToTheSumOfSquares) {
  EXPECT_NEAR(norm_of_equal_elements(1), 1.0000, 0.5e-4);
  EXPECT_NEAR(norm_of_equal_elements(1e-2F), 0.99996, 0.5e-5);
  EXPECT_NEAR(norm_of_equal_elements(1e-3F), 0.99612, 0.5e-5);
  EXPECT_NEAR(norm_of_equal_elements(1e-4F), 0.74927, 0.5e-5);
  EXPECT_EQ(norm_of_equal_elements(0), 0.0);
}

ON_EVERY_ENGINE(EngineConv);

TEST_P(EngineConv, TakesTapsOldestFirstAndStoresItsInput) {
  // sigmoid(4321) is 1 in float32, so SiLU changes nothing. Four channels, all alike.
  gdn_shape shape = heads(1, 1, 1, 2);
  shape.conv_kernel = 4;
  const Opened engine;
  std::vector<float> x(4, 4.0F), y(4), hist, weight, after(12);
  for (const float row : {1.0F, 2.0F, 3.0F}) hist.insert(hist.end(), 4, row);
  for (int c = 0; c < 4; ++c) weight.insert(weight.end(), {1, 10, 100, 1000});
  ASSERT_EQ(apply(engine, GDN_CONV_SILU, shape,
                  {array("x", x), array("hist", hist), array("weight", weight)},
                  {array("y", y), array("hist", after)}),
            GDN_OK)
      << engine.error();
  EXPECT_EQ(y, std::vector<float>(4, 4321.0F));
  EXPECT_EQ(after, (std::vector<float>{2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4}));
  EXPECT_EQ(hist[0], 1.0F) << "inputs are only read";
}

TEST_P(EngineConv, OfOneTapHasNoHistory) {
  gdn_shape shape = heads(1, 1, 1, 2);
  shape.conv_kernel = 1;
  const Opened engine;
  std::vector<float> x(4, 50.0F), y(4), weight(4, 2.0F);
  ASSERT_EQ(apply(engine, GDN_CONV_SILU, shape, {array("x", x), array("weight", weight)},
                  {array("y", y)}),
            GDN_OK)
      << engine.error();
  EXPECT_EQ(y, std::vector<float>(4, 100.0F));
}

ON_EVERY_ENGINE(EngineGatedNorm);

TEST_P(EngineGatedNorm, DividesByTheRootMeanSquareAndGatesWithSilu) {
  // o = (3, 4, 0, 0) has mean square 25/4; z = 100 makes the gate 100; w = (1, 2, 1, 1).
  gdn_shape shape = heads(1, 1, 1, 4);
  shape.rms_norm_eps = 0;
  const Opened engine;
  std::vector<float> o = {3, 4, 0, 0}, z(4, 100.0F), weight = {1, 2, 1, 1}, y(4);
  ASSERT_EQ(apply(engine, GDN_GATED_NORM, shape,
                  {array("o", o), array("z", z), array("weight", weight)}, {array("y", y)}),
            GDN_OK)
      << engine.error();
  // 3 / 2.5 = 1.2 rounds once, times 100 again; 4 / 2.5 * 2 = 3.2 likewise.
  EXPECT_NEAR(y[0], 120, 2 * u * 120);
  EXPECT_NEAR(y[1], 320, 2 * u * 320);
  EXPECT_EQ(y[2], 0.0F);
}

TEST(TwinProjection, SumsEachRowInRisingOrder) {
  // 2^24 + 1 + 1 stays 2^24 in rising order, and 1 + 1 + 2^24 is 2^24 + 2.
  const Opened engine(testing::small_shape(), testing::observing(), "twin");
  std::vector<float> x = {1, 1, 1}, weight = {0x1p24F, 1, 1, 1, 1, 0x1p24F}, y(2);
  ASSERT_EQ(apply(engine, GDN_IN_PROJ, testing::small_shape(),
                  {array("x", x), array("weight", weight)}, {array("y", y)}),
            GDN_OK)
      << engine.error();
  EXPECT_EQ(y, (std::vector<float>{0x1p24F, 0x1p24F + 2}));
}

ON_EVERY_ENGINE(EngineProjection);

TEST_P(EngineProjection, OfManyRowsMixesNone) {
  // Row r holds r + 1 in its last column alone. 19 rows: groups of eight and a rest.
  const Opened engine;
  std::vector<float> x(7, 3.0F), weight(19 * 7, 0.0F), y(19);
  for (size_t r = 0; r < 19; ++r) weight[r * 7 + 6] = static_cast<float>(r + 1);
  ASSERT_EQ(apply(engine, GDN_OUT_PROJ, testing::small_shape(),
                  {array("x", x), array("weight", weight)}, {array("y", y)}),
            GDN_OK);
  for (size_t r = 0; r < 19; ++r) EXPECT_EQ(y[r], 3 * static_cast<float>(r + 1));
}

}  // namespace
}  // namespace gdn
