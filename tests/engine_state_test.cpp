// The life of a layer's state on every engine: tokens, reset, reading back, moving, snapshots.
#include "tests/opened_engine.h"

namespace gdn {
namespace {

using testing::bits;
using testing::numbers;
using testing::Opened;

std::vector<float> tokens(uint64_t seed, int64_t T) { return numbers(seed, T * 32); }

std::vector<float> zeros(const std::vector<float>& like) {
  return std::vector<float>(like.size(), 0.0F);
}

ON_EVERY_ENGINE(EngineState);

TEST_P(EngineState, StartsAtZero) {
  Opened engine;
  EXPECT_EQ(bits(engine.read(1, GDN_S)), bits(std::vector<float>(4 * 4 * 8, 0.0F)));
  EXPECT_EQ(bits(engine.read(1, GDN_HIST)), bits(std::vector<float>(2 * 48, 0.0F)));
}

TEST_P(EngineState, HistoryIsTheLastProjections) {
  Opened engine;
  engine.load(0, 1);
  engine.step(0, 10);
  const std::vector<float> first = engine.read(0, GDN_QKV);
  engine.step(0, 11);
  std::vector<float> want = first;
  const std::vector<float> second = engine.read(0, GDN_QKV);
  want.insert(want.end(), second.begin(), second.end());
  EXPECT_EQ(bits(engine.read(0, GDN_HIST)), bits(want));
}

TEST_P(EngineState, VIsASliceOfConv) {
  Opened engine;
  engine.load(0, 1);
  engine.step(0, 10);
  const std::vector<float> conv = engine.read(0, GDN_CONV);
  EXPECT_EQ(bits(engine.read(0, GDN_V)), bits({conv.begin() + 16, conv.end()}));
}

TEST_P(EngineState, TensorsOfATokenComeFromTheirOperators) {
  // Each operator of apply on what was read back gives what was read back after it.
  Opened engine;
  engine.load(0, 1);
  engine.step(0, 10);
  std::vector<float> S = engine.read(0, GDN_S);
  engine.step(0, 11);
  std::vector<float> q = engine.read(0, GDN_Q), k = engine.read(0, GDN_K);
  std::vector<float> v = engine.read(0, GDN_V), g = engine.read(0, GDN_G);
  std::vector<float> beta = engine.read(0, GDN_BETA), o(v.size());
  ASSERT_EQ(
      testing::apply(engine, GDN_DELTA_RULE, engine.shape,
                     {testing::array("q", q), testing::array("k", k), testing::array("v", v),
                      testing::array("g", g), testing::array("beta", beta), testing::array("S", S)},
                     {testing::array("S", S), testing::array("o", o)}),
      GDN_OK);
  EXPECT_EQ(bits(engine.read(0, GDN_S)), bits(S));
  EXPECT_EQ(bits(engine.read(0, GDN_O)), bits(o));
}

TEST_P(EngineState, ResetGivesAFreshLayerAndTouchesNoOther) {
  Opened used;
  Opened fresh;
  for (const int64_t layer : {0, 1, 2}) {
    used.load(layer, 1);
    fresh.load(layer, 1);
    used.run(layer, tokens(5, 7));
  }
  const auto other = used.state(2);
  ASSERT_EQ(used.api.reset(used.handle, 1), GDN_OK);
  EXPECT_EQ(used.read(1, GDN_S), zeros(used.read(1, GDN_S)));
  EXPECT_EQ(used.read(1, GDN_HIST), zeros(used.read(1, GDN_HIST)));
  EXPECT_EQ(used.state(2), other);
  EXPECT_EQ(bits(used.run(1, tokens(6, 4))), bits(fresh.run(1, tokens(6, 4))));
  EXPECT_EQ(used.state(1), fresh.state(1));
  ASSERT_EQ(used.api.reset(used.handle, GDN_ALL_LAYERS), GDN_OK);
  for (const int64_t layer : {0, 1, 2}) EXPECT_EQ(used.read(layer, GDN_S), zeros(numbers(1, 128)));
}

TEST_P(EngineState, UnloadDropsWeightsAndZeroesTheState) {
  Opened engine;
  engine.load(0, 1);
  const std::vector<float> first = engine.step(0, 10);
  ASSERT_EQ(engine.api.unload_layer(engine.handle, 0), GDN_OK);
  EXPECT_EQ(engine.read(0, GDN_S), zeros(engine.read(0, GDN_S)));
  const std::vector<float> h = tokens(1, 1);
  std::vector<float> out(32);
  EXPECT_EQ(engine.api.step(engine.handle, 0, h.data(), out.data()), GDN_NOT_LOADED);
  engine.load(0, 1);
  EXPECT_EQ(bits(engine.step(0, 10)), bits(first));
}

TEST_P(EngineState, LayersLiveApart) {
  // The same weights in all layers, fed by turns with different tokens; each as one alone.
  Opened engine;
  for (const int64_t layer : {0, 1, 2}) engine.load(layer, 1);
  std::vector<std::vector<float>> outputs(3);
  for (uint64_t t = 0; t < 5; ++t) {
    for (const int64_t layer : {2, 0, 1}) {
      const auto out = engine.step(layer, 100 * static_cast<uint64_t>(layer) + t);
      auto& all = outputs[static_cast<size_t>(layer)];
      all.insert(all.end(), out.begin(), out.end());
    }
  }
  for (const int64_t layer : {0, 1, 2}) {
    Opened alone;
    alone.load(layer, 1);
    std::vector<float> want;
    for (uint64_t t = 0; t < 5; ++t) {
      const auto out = alone.step(layer, 100 * static_cast<uint64_t>(layer) + t);
      want.insert(want.end(), out.begin(), out.end());
    }
    EXPECT_EQ(bits(outputs[static_cast<size_t>(layer)]), bits(want)) << "layer " << layer;
    EXPECT_EQ(engine.state(layer), alone.state(layer)) << "layer " << layer;
  }
}

TEST_P(EngineState, CuttingARunChangesNothing) {
  const std::vector<float> h = tokens(9, 97);
  Opened whole;
  whole.load(0, 1);
  const std::vector<float> want = whole.run(0, h);
  const std::vector<std::vector<int64_t>> cuts = {
      {64, 33}, {1, 96}, {96, 1}, {33, 33, 31}, {0, 97, 0}, std::vector<int64_t>(97, 1)};
  for (const auto& pieces : cuts) {
    Opened engine;
    engine.load(0, 1);
    std::vector<float> got;
    auto at = h.begin();
    for (const int64_t piece : pieces) {
      const auto out = engine.run(0, {at, at + piece * 32});
      got.insert(got.end(), out.begin(), out.end());
      at += piece * 32;
    }
    EXPECT_EQ(bits(got), bits(want)) << pieces.size() << " pieces";
    EXPECT_EQ(engine.state(0), whole.state(0)) << pieces.size() << " pieces";
  }
}

TEST_P(EngineState, ForwardFeedsOneLayerWithTheOther) {
  Opened engine;
  Opened by_hand;
  for (const int64_t layer : {0, 1, 2}) {
    engine.load(layer, 10 * static_cast<uint64_t>(layer));
    by_hand.load(layer, 10 * static_cast<uint64_t>(layer));
  }
  const std::vector<float> h = tokens(2, 6);
  std::vector<float> out(h.size());
  ASSERT_EQ(engine.api.forward(engine.handle, 6, h.data(), out.data()), GDN_OK);
  EXPECT_EQ(bits(out), bits(by_hand.run(2, by_hand.run(1, by_hand.run(0, h)))));
  EXPECT_EQ(engine.states(), by_hand.states());
}

TEST_P(EngineState, ForwardChecksAllLayersBeforeOneIsTouched) {
  Opened engine;
  engine.load(0, 1);
  engine.load(1, 2);
  engine.load_small(2, 3);
  engine.step(0, 1);
  const auto states = engine.states();
  const std::vector<float> h = tokens(2, 2);
  std::vector<float> out(h.size(), 7.0F);
  EXPECT_EQ(engine.api.forward(engine.handle, 2, h.data(), out.data()), GDN_NOT_LOADED);
  EXPECT_EQ(engine.states(), states);
  EXPECT_EQ(out, std::vector<float>(64, 7.0F));
}

TEST_P(EngineState, ObservingChangesNoBit) {
  gdn_options blind = testing::observing();
  blind.observe = 0;
  Opened seen;
  Opened unseen(testing::small_shape(), blind);
  seen.load(0, 1);
  unseen.load(0, 1);
  EXPECT_EQ(bits(seen.run(0, tokens(3, 9))), bits(unseen.run(0, tokens(3, 9))));
  EXPECT_EQ(seen.state(0), unseen.state(0));
  std::vector<float> q(8);
  EXPECT_EQ(unseen.api.read(unseen.handle, 0, GDN_Q, q.data(), 8, nullptr), GDN_UNSUPPORTED);
}

TEST_P(EngineState, ReadsNoTokenBeforeTheFirst) {
  Opened engine;
  engine.load(0, 1);
  std::vector<float> dst(1000, 7.0F);
  const auto read = [&](gdn_tensor tensor) {
    int64_t count = 0;
    return engine.api.read(engine.handle, 0, tensor, dst.data(), 1000, &count);
  };
  uint64_t id = 0;
  for (int again = 0; again < 5; ++again) {
    for (int tensor = 0; tensor < GDN_S; ++tensor) {
      EXPECT_EQ(read(static_cast<gdn_tensor>(tensor)), GDN_NO_TOKEN) << again;
    }
    EXPECT_EQ(dst[0], 7.0F);
    engine.step(0, 1);
    for (int tensor = 0; tensor < GDN_TENSOR_COUNT; ++tensor) {
      EXPECT_EQ(read(static_cast<gdn_tensor>(tensor)), GDN_OK);
    }
    dst.assign(1000, 7.0F);
    ASSERT_EQ(engine.api.snapshot(engine.handle, 0, &id), GDN_OK);
    const auto state = engine.state(0);
    if (again == 0) {
      EXPECT_EQ(engine.api.reset(engine.handle, 0), GDN_OK);
    }
    if (again == 1) {
      EXPECT_EQ(engine.api.rollback(engine.handle, id), GDN_OK);
    }
    if (again == 2) {
      EXPECT_EQ(engine.api.state_import(engine.handle, 0, state.data(), state.size()), GDN_OK);
    }
    if (again == 3) {
      EXPECT_EQ(engine.api.unload_layer(engine.handle, 0), GDN_OK);
      engine.load(0, 1);
    }
  }
}

TEST_P(EngineState, ReadRefusesACapacityThatIsOneShort) {
  Opened engine;
  engine.load(0, 1);
  engine.step(0, 1);
  for (int t = 0; t < GDN_TENSOR_COUNT; ++t) {
    const auto tensor = static_cast<gdn_tensor>(t);
    int64_t size = 0;
    ASSERT_EQ(engine.api.read(engine.handle, 0, tensor, nullptr, 0, &size), GDN_OK);
    std::vector<float> dst(static_cast<size_t>(size), 7.0F);
    int64_t count = -5;
    EXPECT_EQ(engine.api.read(engine.handle, 0, tensor, dst.data(), size - 1, &count),
              GDN_TOO_SMALL);
    EXPECT_EQ(dst, std::vector<float>(dst.size(), 7.0F));
    EXPECT_EQ(count, -5);
  }
}

TEST_P(EngineState, ARunMovesBetweenEngines) {
  Opened here;
  Opened there;
  here.load(0, 1);
  there.load(2, 1);
  there.run(2, tokens(8, 3));
  here.run(0, tokens(3, 5));
  const auto state = here.state(0);
  ASSERT_EQ(there.api.state_import(there.handle, 2, state.data(), state.size()), GDN_OK);
  EXPECT_EQ(there.state(2), state);
  EXPECT_EQ(bits(there.run(2, tokens(4, 5))), bits(here.run(0, tokens(4, 5))));
}

TEST_P(EngineState, AnExportIsAHeaderThenSThenTheHistory) {
  Opened engine;
  engine.load(0, 1);
  engine.step(0, 1);
  const auto state = engine.state(0);
  const int64_t shape[] = {32, 2, 4, 4, 8, 3};
  std::vector<float> values = engine.read(0, GDN_S);
  const std::vector<float> history = engine.read(0, GDN_HIST);
  values.insert(values.end(), history.begin(), history.end());
  ASSERT_EQ(state.size(), 8 + 48 + values.size() * 4);
  EXPECT_EQ(std::memcmp(state.data(), "GDNS\1\0\0\0", 8), 0);
  EXPECT_EQ(std::memcmp(state.data() + 8, shape, 48), 0);
  EXPECT_EQ(std::memcmp(state.data() + 56, values.data(), values.size() * 4), 0);
}

TEST_P(EngineState, ImportRefusesADamagedHeaderAndAnotherShape) {
  Opened engine;
  engine.load(0, 1);
  engine.step(0, 1);
  const auto state = engine.state(0);
  engine.step(0, 2);
  const auto now = engine.state(0);
  for (size_t byte = 0; byte < 56; ++byte) {
    auto damaged = state;
    damaged[byte] ^= 1;
    EXPECT_EQ(engine.api.state_import(engine.handle, 0, damaged.data(), damaged.size()),
              GDN_INVALID_ARGUMENT)
        << "byte " << byte;
  }
  for (const size_t size : {size_t{0}, size_t{55}, size_t{56}, state.size() - 1}) {
    EXPECT_EQ(engine.api.state_import(engine.handle, 0, state.data(), size), GDN_INVALID_ARGUMENT);
  }
  EXPECT_EQ(engine.api.state_import(engine.handle, 0, nullptr, state.size()), GDN_INVALID_ARGUMENT);
  EXPECT_EQ(engine.state(0), now);
}

ON_EVERY_ENGINE(EngineSnapshots);

TEST_P(EngineSnapshots, RollBackStateAndHistory) {
  // d drafts of which j are accepted, then m steps, and a second rollback: as if never drafted.
  Opened engine;
  Opened straight;
  engine.load(0, 1);
  straight.load(0, 1);
  engine.run(0, tokens(1, 3));
  straight.run(0, tokens(1, 3));
  uint64_t before = 0, accepted = 0;
  ASSERT_EQ(engine.api.snapshot(engine.handle, 0, &before), GDN_OK);
  engine.run(0, tokens(2, 2));
  ASSERT_EQ(engine.api.snapshot(engine.handle, GDN_ALL_LAYERS, &accepted), GDN_OK);
  engine.run(0, tokens(3, 4));
  ASSERT_EQ(engine.api.rollback(engine.handle, accepted), GDN_OK);
  straight.run(0, tokens(2, 2));
  EXPECT_EQ(engine.state(0), straight.state(0));
  EXPECT_EQ(bits(engine.run(0, tokens(4, 3))), bits(straight.run(0, tokens(4, 3))));
  ASSERT_EQ(engine.api.rollback(engine.handle, accepted), GDN_OK) << "its own stays";
  ASSERT_EQ(engine.api.rollback(engine.handle, before), GDN_OK);
  EXPECT_EQ(engine.api.rollback(engine.handle, accepted), GDN_NOT_FOUND) << "later ones go";
  Opened never;
  never.load(0, 1);
  never.run(0, tokens(1, 3));
  EXPECT_EQ(engine.state(0), never.state(0));
}

TEST_P(EngineSnapshots, KeepTheNewestAndNeverUseAnIdTwice) {
  Opened engine;  // keeps three
  std::vector<uint64_t> ids(5);
  for (uint64_t& id : ids) ASSERT_EQ(engine.api.snapshot(engine.handle, 0, &id), GDN_OK);
  for (size_t i = 1; i < ids.size(); ++i) EXPECT_GT(ids[i], ids[i - 1]);
  EXPECT_EQ(engine.api.rollback(engine.handle, ids[0]), GDN_NOT_FOUND);
  EXPECT_EQ(engine.api.rollback(engine.handle, ids[1]), GDN_NOT_FOUND);
  EXPECT_EQ(engine.api.rollback(engine.handle, ids[2]), GDN_OK);
  uint64_t later = 0;
  ASSERT_EQ(engine.api.snapshot(engine.handle, 0, &later), GDN_OK);
  EXPECT_GT(later, ids[4]);
  EXPECT_EQ(engine.api.rollback(engine.handle, later + 1), GDN_NOT_FOUND);
}

TEST_P(EngineSnapshots, OfALayerGoWithItsResetUnloadAndImport) {
  Opened engine;
  const auto state = engine.state(1);
  for (int how = 0; how < 3; ++how) {
    uint64_t other = 0, own = 0, all = 0;
    ASSERT_EQ(engine.api.snapshot(engine.handle, 0, &other), GDN_OK);
    ASSERT_EQ(engine.api.snapshot(engine.handle, 1, &own), GDN_OK);
    ASSERT_EQ(engine.api.snapshot(engine.handle, GDN_ALL_LAYERS, &all), GDN_OK);
    const gdn_status status =
        how == 0   ? engine.api.reset(engine.handle, 1)
        : how == 1 ? engine.api.unload_layer(engine.handle, 1)
                   : engine.api.state_import(engine.handle, 1, state.data(), state.size());
    ASSERT_EQ(status, GDN_OK);
    EXPECT_EQ(engine.api.rollback(engine.handle, own), GDN_NOT_FOUND) << how;
    EXPECT_EQ(engine.api.rollback(engine.handle, all), GDN_NOT_FOUND) << how;
    EXPECT_EQ(engine.api.rollback(engine.handle, other), GDN_OK) << how;
  }
}

TEST_P(EngineSnapshots, AreRefusedWhereNoneAreKept) {
  gdn_options options = testing::observing();
  options.snapshots = 0;
  const Opened engine(testing::small_shape(), options);
  uint64_t id = 77;
  EXPECT_EQ(engine.api.snapshot(engine.handle, 0, &id), GDN_UNSUPPORTED);
  EXPECT_EQ(id, 77U);
}

}  // namespace
}  // namespace gdn
