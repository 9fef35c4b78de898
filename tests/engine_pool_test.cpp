// Weights and memory of every engine: the 4-bit pool, bindings, refusals between the two kinds of
// weights, and allocations that fail.
#include <functional>

#include "invariants/harness/allocation_ledger.h"
#include "invariants/harness/engine.h"
#include "invariants/harness/verdict.h"
#include "reference/operators.h"
#include "tests/opened_engine.h"

namespace gdn {
namespace {

using testing::bits;
using testing::conv_dim;
using testing::numbers;
using testing::Opened;
using testing::Weights;

// Layer 0 has float32 projections, layer 1 is bound to keys 10..12, layer 2 has small tensors.
void furnish(Opened& engine) {
  engine.load(0, 100);
  engine.load_small(1, 200);
  engine.load_small(2, 300);
  ASSERT_EQ(engine.api.pool_init(engine.handle, 2 * engine.projections_bytes()), GDN_OK);
  engine.put_projections(10, 400);
  ASSERT_EQ(engine.api.bind_q4(engine.handle, 1, 10, 11, 12), GDN_OK) << engine.error();
}

gdn_status step_status(const Opened& engine, int64_t layer) {
  const std::vector<float> h = numbers(1, engine.shape.hidden_size);
  std::vector<float> out(h.size());
  return engine.api.step(engine.handle, layer, h.data(), out.data());
}

ON_EVERY_ENGINE(EnginePool);

TEST_P(EnginePool, GivesBytesBackAsTheyWerePut) {
  Opened engine;
  furnish(engine);
  const std::vector<uint8_t> want = testing::tiles(400, conv_dim(engine.shape), 32);
  uint64_t size = 0;
  ASSERT_EQ(engine.api.pool_get(engine.handle, 10, nullptr, 0, &size), GDN_OK);
  ASSERT_EQ(size, want.size());
  std::vector<uint8_t> got(size);
  EXPECT_EQ(engine.api.pool_get(engine.handle, 10, got.data(), size - 1, &size), GDN_TOO_SMALL);
  EXPECT_EQ(got, std::vector<uint8_t>(size, 0)) << "nothing was written";
  ASSERT_EQ(engine.api.pool_get(engine.handle, 10, got.data(), size, nullptr), GDN_OK);
  EXPECT_EQ(got, want);
}

TEST_P(EnginePool, CountsTileBytesAndRefusesWhatDoesNotFit) {
  Opened engine;
  ASSERT_EQ(engine.api.pool_init(engine.handle, 3 * 72), GDN_OK);
  const std::vector<uint8_t> bytes = testing::tiles(1, 4, 96);
  EXPECT_EQ(engine.api.pool_put(engine.handle, 1, 4, 64, bytes.data()), GDN_OK);
  EXPECT_EQ(engine.api.pool_put(engine.handle, 2, 4, 64, bytes.data()), GDN_OUT_OF_MEMORY);
  EXPECT_EQ(engine.api.pool_put(engine.handle, 1, 4, 32, bytes.data()), GDN_ALREADY_LOADED);
  EXPECT_EQ(engine.api.pool_put(engine.handle, 2, 4, 32, bytes.data()), GDN_OK);
  EXPECT_EQ(engine.api.pool_put(engine.handle, 3, 4, 32, bytes.data()), GDN_OUT_OF_MEMORY);
  ASSERT_EQ(engine.api.pool_clear(engine.handle), GDN_OK);
  EXPECT_EQ(engine.api.pool_put(engine.handle, 3, 4, 96, bytes.data()), GDN_OK);
}

TEST_P(EnginePool, RefusesEveryWrongArgument) {
  Opened engine;
  furnish(engine);
  const gdn_api& api = engine.api;
  gdn_engine* e = engine.handle;
  const std::vector<uint8_t> bytes = testing::tiles(1, 4, 32);
  uint64_t size = 0;
  EXPECT_EQ(api.pool_put(e, 1, 4, 32, nullptr), GDN_INVALID_ARGUMENT);
  EXPECT_EQ(api.pool_put(e, 1, 0, 32, bytes.data()), GDN_INVALID_ARGUMENT);
  EXPECT_EQ(api.pool_put(e, 1, 3, 32, bytes.data()), GDN_INVALID_ARGUMENT);
  EXPECT_EQ(api.pool_put(e, 1, 4, 31, bytes.data()), GDN_INVALID_ARGUMENT);
  EXPECT_EQ(api.pool_put(e, 1, -4, 32, bytes.data()), GDN_INVALID_ARGUMENT);
  EXPECT_EQ(api.pool_put(e, 1, INT64_MAX - 3, INT64_MAX - 31, bytes.data()), GDN_INVALID_ARGUMENT);
  EXPECT_EQ(api.pool_get(e, 99, nullptr, 0, &size), GDN_NOT_FOUND);
  EXPECT_EQ(api.pool_get(e, 10, nullptr, 0, nullptr), GDN_INVALID_ARGUMENT);
  EXPECT_EQ(api.pool_init(e, UINT64_MAX), GDN_OUT_OF_MEMORY);
  EXPECT_EQ(api.pool_init(e, INT64_MAX), GDN_OUT_OF_MEMORY);
  EXPECT_EQ(api.bind_q4(e, 3, 10, 11, 12), GDN_INVALID_ARGUMENT);
  EXPECT_EQ(api.bind_q4(e, -1, 10, 11, 12), GDN_INVALID_ARGUMENT);
  EXPECT_EQ(step_status(engine, 1), GDN_OK) << "pool and bindings are as they were";
}

TEST_P(EnginePool, BindsAllOrNothing) {
  Opened engine;
  furnish(engine);
  const gdn_api& api = engine.api;
  EXPECT_EQ(api.bind_q4(engine.handle, 2, 10, 11, 99), GDN_NOT_FOUND);
  EXPECT_EQ(api.bind_q4(engine.handle, 2, 11, 11, 12), GDN_INVALID_ARGUMENT) << "qkv has 48 rows";
  EXPECT_EQ(step_status(engine, 2), GDN_NOT_LOADED);
  EXPECT_EQ(api.bind_q4(engine.handle, 2, 10, 12, 11), GDN_OK) << "z and out are of equal shape";
  EXPECT_EQ(step_status(engine, 2), GDN_OK);
}

TEST_P(EnginePool, NeedsSmallTensorsBeforeABinding) {
  Opened engine;
  ASSERT_EQ(engine.api.pool_init(engine.handle, engine.projections_bytes()), GDN_OK);
  engine.put_projections(10, 400);
  EXPECT_EQ(engine.api.bind_q4(engine.handle, 0, 10, 11, 12), GDN_NOT_LOADED);
}

TEST_P(EnginePool, NeverHoldsBothKindsOfWeights) {
  AllocationLedger ledger;
  gdn_options options = testing::observing();
  ledger.attach(options);
  Opened engine(testing::small_shape(), options);
  furnish(engine);
  ASSERT_EQ(step_status(engine, 0), GDN_OK);
  ASSERT_EQ(step_status(engine, 1), GDN_OK);
  const auto states = engine.states();
  const Weights weights(engine.shape, 7);
  const gdn_layer_weights all = weights.all();
  const gdn_layer_weights small = weights.small_ones();
  ledger.arm(0);
  EXPECT_EQ(engine.api.bind_q4(engine.handle, 0, 10, 11, 12), GDN_ALREADY_LOADED);
  for (const int64_t layer : {0, 1, 2}) {
    EXPECT_EQ(engine.api.load_layer_f32(engine.handle, layer, &all), GDN_ALREADY_LOADED);
    EXPECT_EQ(engine.api.load_layer_f32(engine.handle, layer, &small), GDN_ALREADY_LOADED);
  }
  EXPECT_EQ(ledger.asked, 0U) << "refused before any allocation";
  EXPECT_EQ(engine.states(), states);
}

TEST_P(EnginePool, ARebuiltPoolNeverAnswersAnOldBinding) {
  for (const bool init : {true, false}) {
    Opened engine;
    furnish(engine);
    const std::vector<float> before = engine.step(1, 5);
    const auto state = engine.state(1);
    ASSERT_EQ(init ? engine.api.pool_init(engine.handle, engine.projections_bytes())
                   : engine.api.pool_clear(engine.handle),
              GDN_OK);
    EXPECT_EQ(step_status(engine, 1), GDN_NOT_LOADED);
    engine.put_projections(10, 999);  // other tensors of equal shape under the old keys
    EXPECT_EQ(step_status(engine, 1), GDN_NOT_LOADED);
    EXPECT_NE(engine.error(), "");
    EXPECT_EQ(engine.state(1), state) << "small tensors and state stay";
    ASSERT_EQ(engine.api.bind_q4(engine.handle, 1, 10, 11, 12), GDN_OK) << engine.error();
    ASSERT_EQ(engine.api.reset(engine.handle, 1), GDN_OK);
    EXPECT_NE(engine.step(1, 5), before) << "the other tensors give another output";
  }
}

// By equal bits where an engine says that it multiplies both alike, else each within its bound.
TEST_P(EnginePool, BoundAndLoadedProjectionsAreOfTheSameWeights) {
  Opened engine;
  furnish(engine);
  Weights decoded(engine.shape, 200);
  const auto decode = [&](uint64_t key_seed, int64_t rows, std::vector<float>& out) {
    const auto bytes = testing::tiles(key_seed, rows, 32);
    ASSERT_EQ(engine.api.dequant(engine.handle, rows, 32, bytes.data(), out.data()), GDN_OK);
  };
  decode(400, 48, decoded.qkv);
  decode(401, 32, decoded.z);
  decode(402, 32, decoded.out);
  Opened other;
  const gdn_layer_weights all = decoded.all();
  ASSERT_EQ(other.api.load_layer_f32(other.handle, 1, &all), GDN_OK);
  std::string why;
  const std::optional<EngineSource> source = find_engine(testing::engine_under_test(), &why);
  ASSERT_TRUE(source.has_value()) << why;
  const Contract& contract = source->description.contract;
  const std::vector<uint8_t> tiles = testing::tiles(400, 48, 32);
  const auto expect_product = [&](Opened& of, const Matrix& weights, uint64_t t) {
    const std::vector<float> h = numbers(t, of.shape.hidden_size);
    const Verdict verdict = within("QKV", of.read(1, GDN_QKV),
                                   project(weights, exactly(h), Dialect::Activation::f32,
                                           contract.in_proj, contract));
    EXPECT_TRUE(verdict.holds()) << verdict.detail;
  };
  for (uint64_t t = 0; t < 3; ++t) {
    const std::vector<float> bound = engine.step(1, t);
    const std::vector<float> loaded = other.step(1, t);
    if (!contract.q4_projection) {
      EXPECT_EQ(bits(bound), bits(loaded));
    }
    expect_product(engine, {48, 32, nullptr, tiles.data()}, t);
    expect_product(other, {48, 32, decoded.qkv.data(), nullptr}, t);
  }
  if (!contract.q4_projection) {
    EXPECT_EQ(engine.state(1), other.state(1));
  }
}

ON_EVERY_ENGINE(EngineMemory);

TEST_P(EngineMemory, OpenFailsCleanlyAtEveryAllocation) {
  gdn_options options = testing::observing();
  AllocationLedger ledger;
  ledger.attach(options);
  const gdn_api& api = testing::api_named(testing::engine_under_test());
  const gdn_shape shape = testing::small_shape();
  uint64_t n = 0;
  gdn_engine* engine = nullptr;
  for (;;) {
    ledger.arm(++n);
    const gdn_status status = api.open(&shape, &options, &engine);
    if (status == GDN_OK) break;
    ASSERT_EQ(status, GDN_OUT_OF_MEMORY);
    EXPECT_STRNE(api.last_error(nullptr), "");
    EXPECT_EQ(engine, nullptr);
    ASSERT_EQ(ledger.held, 0U) << "allocation " << n << " failed and something leaked";
  }
  EXPECT_GT(n, 10U) << "an engine of three layers allocates more often";
  api.close(engine);
  EXPECT_EQ(ledger.held, 0U);
  EXPECT_EQ(ledger.bytes_held, 0U);
  EXPECT_FALSE(ledger.overdrawn);
}

struct Allocating {
  const char* name;
  std::function<gdn_status(const Opened&)> call;
};

std::vector<Allocating> allocating_calls() {
  static const Weights weights(testing::small_shape(), 500);
  static const gdn_layer_weights all = weights.all();
  static const std::vector<uint8_t> tile = testing::tiles(1, 4, 32);
  return {
      {"load_layer_f32", [](const Opened& e) { return e.api.load_layer_f32(e.handle, 2, &all); }},
      {"pool_init", [](const Opened& e) { return e.api.pool_init(e.handle, 1 << 16); }},
      {"pool_put",
       [](const Opened& e) { return e.api.pool_put(e.handle, 77, 4, 32, tile.data()); }},
      {"buffer_create",
       [](const Opened& e) {
         gdn_buffer buffer = 0;
         return e.api.buffer_create(e.handle, 1000, &buffer);
       }},
      {"snapshot of a layer",
       [](const Opened& e) {
         uint64_t id = 0;
         return e.api.snapshot(e.handle, 1, &id);
       }},
      {"snapshot of all",
       [](const Opened& e) {
         uint64_t id = 0;
         return e.api.snapshot(e.handle, GDN_ALL_LAYERS, &id);
       }},
  };
}

TEST_P(EngineMemory, AFailedCallLeavesAllAsItWas) {
  for (const Allocating& allocating : allocating_calls()) {
    AllocationLedger ledger;
    gdn_options options = testing::observing();
    ledger.attach(options);
    {
      Opened engine(testing::small_shape(), options);
      furnish(engine);
      ASSERT_EQ(engine.api.unload_layer(engine.handle, 2), GDN_OK);
      engine.step(0, 1);
      engine.step(1, 2);
      const auto states = engine.states();
      const uint64_t held = ledger.held;
      const uint64_t bytes_held = ledger.bytes_held;
      uint64_t n = 0;
      for (;;) {
        ledger.arm(++n);
        const gdn_status status = allocating.call(engine);
        if (status == GDN_OK) break;
        ASSERT_EQ(status, GDN_OUT_OF_MEMORY) << allocating.name << ", allocation " << n;
        EXPECT_NE(engine.error(), "");
        EXPECT_EQ(ledger.held, held) << allocating.name << ", allocation " << n;
        EXPECT_EQ(ledger.bytes_held, bytes_held);
        EXPECT_EQ(engine.states(), states) << allocating.name << ", allocation " << n;
        uint64_t size = 0;
        EXPECT_EQ(engine.api.pool_get(engine.handle, 12, nullptr, 0, &size), GDN_OK);
        EXPECT_EQ(engine.api.pool_get(engine.handle, 77, nullptr, 0, &size), GDN_NOT_FOUND);
        const auto before = engine.state(1);
        EXPECT_EQ(step_status(engine, 1), GDN_OK) << "bindings stay";
        EXPECT_EQ(step_status(engine, 2), GDN_NOT_LOADED);
        ASSERT_EQ(engine.api.state_import(engine.handle, 1, before.data(), before.size()), GDN_OK);
      }
      EXPECT_GT(n, 1U) << allocating.name << " allocates nothing";
    }
    EXPECT_EQ(ledger.held, 0U) << allocating.name << ": everything is released at close";
    EXPECT_EQ(ledger.bytes_held, 0U);
    EXPECT_FALSE(ledger.overdrawn);
  }
}

TEST_P(EngineMemory, TokensAllocateNothing) {
  AllocationLedger ledger;
  gdn_options options = testing::observing();
  ledger.attach(options);
  Opened engine(testing::small_shape(), options);
  furnish(engine);
  ASSERT_EQ(engine.api.bind_q4(engine.handle, 2, 10, 11, 12), GDN_OK);
  const std::vector<float> h = numbers(3, 5 * 32);
  std::vector<float> out(h.size());
  ledger.arm(0);
  EXPECT_EQ(engine.api.step(engine.handle, 0, h.data(), out.data()), GDN_OK);
  EXPECT_EQ(engine.api.run(engine.handle, 1, 5, h.data(), out.data()), GDN_OK);
  EXPECT_EQ(engine.api.forward(engine.handle, 5, h.data(), out.data()), GDN_OK);
  EXPECT_EQ(engine.api.reset(engine.handle, GDN_ALL_LAYERS), GDN_OK);
  EXPECT_EQ(ledger.asked, 0U);
}

TEST_P(EngineMemory, FreshMemoryHoldsThePoison) {
  gdn_options options = testing::observing();
  options.fill = 1;
  options.fill_pattern = 0x7FC0BEEF;
  const Opened engine(testing::small_shape(), options);
  gdn_buffer buffer = 0;
  ASSERT_EQ(engine.api.buffer_create(engine.handle, 4 * 7, &buffer), GDN_OK);
  std::vector<uint32_t> words(7);
  ASSERT_EQ(engine.api.buffer_read(engine.handle, buffer, 0, words.data(), 28), GDN_OK);
  EXPECT_EQ(words, std::vector<uint32_t>(7, 0x7FC0BEEF));
}

TEST_P(EngineMemory, PoisonReachesNoResult) {
  // NaN, 1e30 and 0 in whatever nobody has written.
  std::vector<std::vector<uint32_t>> outputs;
  std::vector<std::vector<std::vector<uint8_t>>> states;
  for (const uint32_t pattern : {0x7FC00000U, 0x7149F2CAU, 0U}) {
    gdn_options options = testing::observing();
    options.fill = 1;
    options.fill_pattern = pattern;
    options.q8_activations = 1;
    Opened engine(testing::small_shape(), options);
    furnish(engine);
    engine.step(0, 1);
    outputs.push_back(bits(engine.step(0, 2)));
    const auto bound = bits(engine.step(1, 3));
    outputs.back().insert(outputs.back().end(), bound.begin(), bound.end());
    states.push_back(engine.states());
  }
  EXPECT_EQ(outputs[0], outputs[1]);
  EXPECT_EQ(outputs[0], outputs[2]);
  EXPECT_EQ(states[0], states[1]);
  EXPECT_EQ(states[0], states[2]);
}

}  // namespace
}  // namespace gdn
