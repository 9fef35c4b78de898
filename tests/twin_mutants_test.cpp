// Each mutant of the twin shows its bug on the literal that names it, and only there: on an input
// that cannot tell, it agrees with the twin bit for bit.
#include <cmath>

#include "tests/opened_engine.h"

namespace gdn {
namespace {

using testing::apply;
using testing::array;
using testing::bits;
using testing::numbers;
using testing::Opened;

using Floats = std::vector<float>;

struct Mutant : Opened {
  explicit Mutant(const char* name) : Opened(testing::small_shape(), testing::observing(), name) {}
};

gdn_shape heads(int64_t kh, int64_t kd, int64_t vh, int64_t vd) {
  gdn_shape shape = testing::small_shape();
  shape.num_k_heads = kh;
  shape.head_k_dim = kd;
  shape.num_v_heads = vh;
  shape.head_v_dim = vd;
  return shape;
}

Floats delta_rule(const Opened& engine, const gdn_shape& shape, Floats q, Floats k, Floats v,
                  Floats g, Floats beta, Floats S) {
  Floats o(v.size());
  EXPECT_EQ(apply(engine, GDN_DELTA_RULE, shape,
                  {array("q", q), array("k", k), array("v", v), array("g", g), array("beta", beta),
                   array("S", S)},
                  {array("S", S), array("o", o)}),
            GDN_OK);
  return o;
}

TEST(TwinMutants, ErrorBeforeDecayShowsWhereThereIsDecay) {
  const Mutant mutant("error_before_decay");
  const float ln_half = -0.693147180559945F;
  EXPECT_EQ(delta_rule(mutant, heads(1, 1, 1, 1), {1}, {1}, {0}, {ln_half}, {1}, {1})[0], -0.5F);
  EXPECT_EQ(delta_rule(mutant, heads(1, 1, 1, 1), {1}, {1}, {5}, {0}, {1}, {1})[0], 5.0F);
}

TEST(TwinMutants, HeadMapTiledShowsWhereKeyHeadsDiffer) {
  const Mutant mutant("head_map_tiled");
  const Floats q = {1, 0.5F}, same = {1, 1}, v = {1, 2, 3, 4}, g(4, 0.0F), beta(4, 1.0F);
  EXPECT_EQ(delta_rule(mutant, heads(2, 1, 4, 1), q, {1, 1}, v, g, beta, Floats(4)),
            (Floats{1, 1, 3, 2}));
  EXPECT_EQ(delta_rule(mutant, heads(2, 1, 4, 1), same, {1, 1}, v, g, beta, Floats(4)), v);
}

TEST(TwinMutants, BetaFromAShowsWhereAAndBDiffer) {
  const Mutant mutant("beta_from_a");
  Floats a = {100}, b = {0}, zero = {0}, beta = {0}, g = {0};
  ASSERT_EQ(apply(mutant, GDN_GATES, heads(1, 1, 1, 1),
                  {array("a", a), array("b", b), array("A_log", zero), array("dt_bias", zero)},
                  {array("beta", beta), array("g", g)}),
            GDN_OK);
  EXPECT_EQ(beta[0], 1.0F);                        // sigmoid(100)
  EXPECT_NEAR(g[0], -std::log(2.0), 4 * 0x1p-24);  // softplus(0), two functions of 1 ulp
}

Floats normed(const char* name, float element, bool take_q) {
  const Mutant mutant(name);
  Floats q(4, element), k(4, element);
  EXPECT_EQ(apply(mutant, GDN_QK_NORM, heads(1, 4, 1, 1), {array("q", q), array("k", k)},
                  {array("q", q), array("k", k)}),
            GDN_OK);
  return take_q ? q : k;
}

TEST(TwinMutants, QScaleTwiceHalvesOnceMore) {
  // kd = 4: q is 1/2 after its norm, and its scale 1/2; eps is lost beside 4 * 2^20.
  EXPECT_EQ(normed("twin", 1024, true), Floats(4, 0.25F));
  EXPECT_EQ(normed("q_scale_twice", 1024, true), Floats(4, 0.125F));
  EXPECT_EQ(normed("q_scale_twice", 1024, false), Floats(4, 0.5F));
}

TEST(TwinMutants, L2NormWithoutEpsShowsForShortVectors) {
  // 2^-11 four times: norm 2^-10, squared 0.95e-6, beside eps = 1e-6.
  EXPECT_EQ(normed("l2_norm_without_eps", 0x1p-11F, false), Floats(4, 0.5F));
  EXPECT_LT(normed("twin", 0x1p-11F, false)[0], 0.36F);
  EXPECT_EQ(normed("l2_norm_without_eps", 1, false), Floats(4, 0.5F));
}

TEST(TwinMutants, ConvHistoryStoresOutput) {
  const Mutant mutant("conv_history_stores_output");
  gdn_shape shape = heads(1, 1, 1, 2);
  shape.conv_kernel = 2;
  Floats x(4, 50.0F), hist(4, 0.0F), weight = {0, 2, 0, 2, 0, 2, 0, 2}, y(4);
  ASSERT_EQ(apply(mutant, GDN_CONV_SILU, shape,
                  {array("x", x), array("hist", hist), array("weight", weight)},
                  {array("y", y), array("hist", hist)}),
            GDN_OK);
  EXPECT_EQ(y, Floats(4, 100.0F));
  EXPECT_EQ(hist, Floats(4, 100.0F));
}

TEST(TwinMutants, NibbleLowHighSwappedMovesHalvesOfABlock) {
  const Mutant mutant("nibble_low_high_swapped");
  const Opened twin;
  const std::vector<uint8_t> tiles = testing::tiles(1, 4, 64);
  Floats wrong(256), right(256);
  ASSERT_EQ(mutant.api.dequant(mutant.handle, 4, 64, tiles.data(), wrong.data()), GDN_OK);
  ASSERT_EQ(twin.api.dequant(twin.handle, 4, 64, tiles.data(), right.data()), GDN_OK);
  for (size_t i = 0; i < 256; ++i) EXPECT_EQ(wrong[i], right[i ^ 16]);
}

TEST(TwinMutants, ResetKeepsHistory) {
  Mutant mutant("reset_keeps_history");
  mutant.load(0, 1);
  mutant.load(1, 1);
  mutant.step(0, 2);
  mutant.step(1, 3);
  const Floats history = mutant.read(0, GDN_HIST);
  const auto other = mutant.state(1);
  ASSERT_EQ(mutant.api.reset(mutant.handle, 0), GDN_OK);
  EXPECT_EQ(mutant.read(0, GDN_HIST), history);
  EXPECT_EQ(mutant.read(0, GDN_S), Floats(128, 0.0F));
  EXPECT_EQ(mutant.state(1), other);
  EXPECT_EQ(mutant.api.reset(mutant.handle, 9), GDN_INVALID_ARGUMENT);
}

TEST(TwinMutants, RollbackKeepsHistory) {
  Mutant mutant("rollback_keeps_history");
  mutant.load(0, 1);
  mutant.step(0, 2);
  uint64_t id = 0;
  ASSERT_EQ(mutant.api.snapshot(mutant.handle, 0, &id), GDN_OK);
  const Floats S = mutant.read(0, GDN_S);
  mutant.step(0, 3);
  const Floats history = mutant.read(0, GDN_HIST);
  ASSERT_EQ(mutant.api.rollback(mutant.handle, id), GDN_OK);
  EXPECT_EQ(mutant.read(0, GDN_S), S);
  EXPECT_EQ(mutant.read(0, GDN_HIST), history);
}

TEST(TwinMutants, LayerOffsetWritesTheNextLayersFirstHead) {
  Mutant mutant("layer_offset");
  Opened twin;
  for (Opened* engine : {static_cast<Opened*>(&mutant), &twin}) {
    for (const int64_t layer : {0, 1, 2}) engine->load(layer, 1);
    engine->step(1, 2);
    engine->step(0, 3);
    engine->step(2, 4);
  }
  EXPECT_EQ(mutant.state(0), twin.state(0));
  Floats want = twin.read(1, GDN_S);
  const Floats from = twin.read(0, GDN_S);
  std::copy(from.begin(), from.begin() + 32, want.begin());
  EXPECT_EQ(mutant.read(1, GDN_S), want);
  EXPECT_EQ(mutant.read(1, GDN_HIST), twin.read(1, GDN_HIST));
}

TEST(TwinMutants, StaleBindingAfterPoolRebuildFindsAnotherTensor) {
  Mutant mutant("stale_binding_after_pool_rebuild");
  mutant.load_small(0, 1);
  const Floats h = numbers(5, 32);
  Floats out(32);
  EXPECT_EQ(mutant.api.step(mutant.handle, 0, h.data(), out.data()), GDN_NOT_LOADED);
  ASSERT_EQ(mutant.api.pool_init(mutant.handle, mutant.projections_bytes()), GDN_OK);
  mutant.put_projections(10, 400);
  ASSERT_EQ(mutant.api.bind_q4(mutant.handle, 0, 10, 11, 12), GDN_OK);
  mutant.step(0, 5);
  ASSERT_EQ(mutant.api.pool_clear(mutant.handle), GDN_OK);
  EXPECT_EQ(mutant.api.step(mutant.handle, 0, h.data(), out.data()), GDN_NOT_LOADED);
  mutant.put_projections(10, 999);
  EXPECT_EQ(mutant.api.step(mutant.handle, 0, h.data(), out.data()), GDN_OK);
}

}  // namespace
}  // namespace gdn
