// What the production engine does when its device refuses a request, at every request that a call
// makes: a status with its reason, the state as before, and the next call right. And when the
// device is lost, or a simulated launch meets a fault.
#include <functional>

#include "device/kernels/conv_gates_norm.cuh"
#include "invariants/harness/allocation_ledger.h"
#include "tests/opened_engine.h"
#include "tests/watched_backend.h"

namespace gdn {
namespace {

using testing::bits;
using testing::numbers;
using testing::Opened;
using testing::watch;

// An engine over the watched device: layer 0 in float32, layer 1 bound to the pool, layer 2 small.
class Watched {
 public:
  explicit Watched(gdn_options options = testing::observing())
      : engine(testing::small_shape(), options, (watch() = {}, testing::watched_api())) {
    engine.load(0, 100);
    engine.load_small(1, 200);
    engine.load_small(2, 300);
    EXPECT_EQ(engine.api.pool_init(engine.handle, 2 * engine.projections_bytes()), GDN_OK);
    engine.put_projections(10, 400);
    EXPECT_EQ(engine.api.bind_q4(engine.handle, 1, 10, 11, 12), GDN_OK);
    EXPECT_EQ(engine.api.bind_q4(engine.handle, 2, 10, 11, 12), GDN_OK);
    engine.step(0, 1);
    engine.step(1, 2);
    engine.step(2, 3);
  }
  ~Watched() { watch().arm(0); }

  Opened engine;
};

// All that can be read of an engine.
std::vector<std::vector<uint32_t>> everything(Opened& engine) {
  std::vector<std::vector<uint32_t>> all;
  for (int64_t layer = 0; layer < engine.shape.num_layers; ++layer) {
    for (int t = 0; t < GDN_TENSOR_COUNT; ++t) {
      all.push_back(bits(engine.read(layer, static_cast<gdn_tensor>(t))));
    }
  }
  return all;
}

struct Failing {
  const char* name;
  std::function<gdn_status(Opened&)> call;
  uint64_t stride = 1;  // between requests that are refused, where there are many alike
};

std::vector<float>& h() {
  static std::vector<float> values = numbers(77, 70 * 32);
  return values;
}
std::vector<float>& out() {
  static std::vector<float> values(h().size());
  return values;
}

const Failing failing_calls[] = {
    {"step of float32",
     [](Opened& e) { return e.api.step(e.handle, 0, h().data(), out().data()); }},
    {"step of q4", [](Opened& e) { return e.api.step(e.handle, 1, h().data(), out().data()); }},
    {"run of 3 tokens",
     [](Opened& e) { return e.api.run(e.handle, 1, 3, h().data(), out().data()); }},
    {"run of more tokens than one round trip takes",
     [](Opened& e) { return e.api.run(e.handle, 0, 70, h().data(), out().data()); }, 29},
    {"forward of 2 tokens",
     [](Opened& e) { return e.api.forward(e.handle, 2, h().data(), out().data()); }},
    {"snapshot",
     [](Opened& e) {
       uint64_t id = 0;
       return e.api.snapshot(e.handle, GDN_ALL_LAYERS, &id);
     }},
};

TEST(HostFailures, ARefusedRequestLeavesTheStateAndTheNextCallIsRight) {
  for (const Failing& failing : failing_calls) {
    Watched watched;
    Opened& engine = watched.engine;
    const auto before = everything(engine);
    uint64_t n = 1;
    for (;; n += failing.stride) {
      watch().arm(n);
      const gdn_status status = failing.call(engine);
      watch().arm(0);
      if (status == GDN_OK) break;
      ASSERT_EQ(status, GDN_INTERNAL) << failing.name << ", request " << n;
      EXPECT_NE(engine.error().find("refused by the watched device"), std::string::npos)
          << failing.name << ", request " << n << ": " << engine.error();
      ASSERT_EQ(everything(engine), before) << failing.name << ", request " << n;
    }
    EXPECT_GT(n, 2U) << failing.name << " asks the device for nothing";
    const auto after = everything(engine);

    Watched never_refused;
    EXPECT_EQ(failing.call(never_refused.engine), GDN_OK);
    EXPECT_EQ(everything(never_refused.engine), after) << failing.name;
  }
}

// A state to import, and a snapshot to roll back to: the first of an engine has the id 1.
const Failing restoring_calls[] = {
    {"reset", [](Opened& e) { return e.api.reset(e.handle, GDN_ALL_LAYERS); }},
    {"unload_layer", [](Opened& e) { return e.api.unload_layer(e.handle, 1); }},
    {"rollback", [](Opened& e) { return e.api.rollback(e.handle, 1); }},
    {"state_import",
     [](Opened& e) {
       static const std::vector<uint8_t> state = [] {
         Opened other;
         other.load(0, 5);
         other.step(0, 6);
         return other.state(0);
       }();
       return e.api.state_import(e.handle, 0, state.data(), state.size());
     }},
};

TEST(HostFailures, ARefusedRestorationPutsBackWhatItHadChanged) {
  for (const Failing& failing : restoring_calls) {
    Watched watched;
    Opened& engine = watched.engine;
    uint64_t id = 0;
    ASSERT_EQ(engine.api.snapshot(engine.handle, GDN_ALL_LAYERS, &id), GDN_OK);
    ASSERT_EQ(id, 1U);
    engine.step(0, 5);
    engine.step(1, 6);
    const auto before = everything(engine);
    uint64_t n = 0;
    for (;;) {
      watch().arm(++n);
      const gdn_status status = failing.call(engine);
      watch().arm(0);
      if (status == GDN_OK) break;
      ASSERT_EQ(status, GDN_INTERNAL) << failing.name << ", request " << n;
      ASSERT_EQ(everything(engine), before) << failing.name << ", request " << n;
    }
    EXPECT_GT(n, 4U) << failing.name << " asks the device for too little";
  }
}

TEST(HostFailures, ALostDeviceIsSaidByEveryLaterCall) {
  AllocationLedger ledger;
  gdn_options options = testing::observing();
  ledger.attach(options);
  {
    Watched watched(options);
    Opened& engine = watched.engine;
    watch().refuse_with = GDN_LOST;
    watch().arm(2);
    EXPECT_EQ(engine.api.step(engine.handle, 0, h().data(), out().data()), GDN_LOST);
    const std::string why = engine.error();
    EXPECT_NE(why, "");
    watch().lost = false;  // The engine does not ask again.
    watch().arm(0);
    int64_t count = 0;
    EXPECT_EQ(engine.api.step(engine.handle, 0, h().data(), out().data()), GDN_LOST);
    EXPECT_EQ(engine.api.reset(engine.handle, GDN_ALL_LAYERS), GDN_LOST);
    EXPECT_EQ(engine.api.read(engine.handle, 0, GDN_S, nullptr, 0, &count), GDN_LOST);
    EXPECT_EQ(engine.api.pool_clear(engine.handle), GDN_LOST);
    EXPECT_EQ(engine.error(), why);
    EXPECT_EQ(watch().requests, 0U);
  }
  EXPECT_EQ(ledger.held, 0U) << "a lost engine can be closed";
}

TEST(HostFailures, AnOutputThatCannotBeFetchedAfterAnAtomicTokenLosesTheEngine) {
  Watched watched;
  Opened& engine = watched.engine;
  watch().atomic_replays = true;
  const auto before = engine.state(0);
  // write h, copy it, replay, copy the output, read it.
  for (const uint64_t n : {1, 2, 3}) {
    watch().arm(n);
    EXPECT_EQ(engine.api.step(engine.handle, 0, h().data(), out().data()), GDN_INTERNAL);
    watch().arm(0);
    EXPECT_EQ(engine.state(0), before) << "request " << n;
  }
  watch().arm(5);
  EXPECT_EQ(engine.api.step(engine.handle, 0, h().data(), out().data()), GDN_LOST);
  EXPECT_EQ(engine.api.reset(engine.handle, 0), GDN_LOST);
}

TEST(HostFailures, OpenFailsCleanlyAtEveryRequest) {
  AllocationLedger ledger;
  gdn_options options = testing::observing();
  ledger.attach(options);
  const gdn_api& api = testing::watched_api();
  const gdn_shape shape = testing::small_shape();
  gdn_engine* engine = nullptr;
  watch() = {};
  uint64_t n = 0;
  for (;;) {
    watch().arm(++n);
    if (api.open(&shape, &options, &engine) == GDN_OK) break;
    ASSERT_STRNE(api.last_error(nullptr), "");
    ASSERT_EQ(engine, nullptr);
    ASSERT_EQ(ledger.held, 0U) << "request " << n;
    ASSERT_EQ(watch().device_bytes(), 0U) << "request " << n;
  }
  EXPECT_GT(n, 20U);
  api.close(engine);
  EXPECT_EQ(watch().device_bytes(), 0U);
  EXPECT_EQ(ledger.held, 0U);
}

TEST(HostFailures, AFaultOfASimulatedLaunchIsAStatusWithItsPlaceAndLeavesTheState) {
  watch() = {};
  Opened engine(testing::small_shape(), testing::observing(), testing::watched_api());
  engine.load(0, 1);
  engine.step(0, 2);
  engine.load(1, 1);
  // The conv of layer 1 is told of one channel more than there are.
  watch().spoil = [](host::KernelId kernel, LaunchShape&, void* params) {
    if (kernel != host::KernelId::conv_gates_norm) return;
    ++static_cast<kernels::ConvGatesNorm*>(params)->conv.channels;
  };
  EXPECT_EQ(engine.api.step(engine.handle, 1, h().data(), out().data()), GDN_INTERNAL);
  EXPECT_NE(engine.error().find("out of bounds"), std::string::npos) << engine.error();
  EXPECT_NE(engine.error().find("conv"), std::string::npos) << engine.error();
  EXPECT_EQ(bits(engine.read(1, GDN_S)), bits(std::vector<float>(128, 0.0F)));
  EXPECT_EQ(bits(engine.read(1, GDN_HIST)), bits(std::vector<float>(96, 0.0F)));
  watch().spoil = nullptr;
  EXPECT_EQ(engine.api.unload_layer(engine.handle, 1), GDN_OK);  // drops the spoilt graph
  engine.load(1, 1);
  EXPECT_EQ(bits(engine.step(1, 2)), bits(engine.read(0, GDN_OUT)));
}

}  // namespace
}  // namespace gdn
