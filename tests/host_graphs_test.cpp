// Graphs, memory and launch shapes of the production engine: a token is a replay of what was
// recorded once, memory is what the formula says, and the block size changes no bit.
#include "device/engines/cuda.h"
#include "device/host/sizes.h"
#include "device/kernels/conv.cuh"
#include "device/kernels/delta_rule.cuh"
#include "device/kernels/gated_norm.cuh"
#include "device/kernels/gates.cuh"
#include "device/kernels/gemv_f32.cuh"
#include "device/kernels/q8_activations.cuh"
#include "device/kernels/qk_norm.cuh"
#include "tests/opened_engine.h"
#include "tests/source_tree.h"
#include "tests/watched_backend.h"

namespace gdn {
namespace {

using host::KernelId;
using testing::bits;
using testing::numbers;
using testing::Opened;
using testing::watch;

std::unique_ptr<Opened> watched(const gdn_shape& shape = testing::small_shape(),
                                const gdn_options& options = testing::observing(),
                                host::MakeBackend device = host::make_simt_checked) {
  watch() = {};
  watch().device = device;
  return std::make_unique<Opened>(shape, options, testing::watched_api());
}

void bind(Opened& engine, int64_t layer) {
  EXPECT_EQ(engine.api.bind_q4(engine.handle, layer, 10, 11, 12), GDN_OK) << engine.error();
}

TEST(HostGraphs, AreRecordedOnceAndReplayedOnceAToken) {
  const auto engine = watched();
  for (const int64_t layer : {0, 1, 2}) engine->load(layer, 1);
  EXPECT_EQ(watch().captures, 0U);
  engine->step(0, 1);
  EXPECT_EQ(watch().captures, 1U);
  const uint64_t launches = watch().launches;
  engine->step(0, 2);
  engine->run(0, numbers(3, 5 * 32));
  EXPECT_EQ(watch().captures, 1U) << "step and run share a graph";
  std::vector<float> h = numbers(4, 2 * 32);
  EXPECT_EQ(engine->api.forward(engine->handle, 2, h.data(), h.data()), GDN_OK);
  EXPECT_EQ(watch().captures, 2U) << "all layers are one graph";
  EXPECT_EQ(watch().launches, launches * 4) << "of the same launches";
  EXPECT_EQ(watch().replays, 1U + 1 + 5 + 2);
}

TEST(HostGraphs, AreRecordedAnewWhenABindingChanges) {
  const auto engine = watched();
  engine->load(0, 1);
  engine->load_small(1, 2);
  engine->load(2, 3);
  ASSERT_EQ(engine->api.pool_init(engine->handle, 2 * engine->projections_bytes()), GDN_OK);
  engine->put_projections(10, 400);
  engine->put_projections(20, 500);
  bind(*engine, 1);
  std::vector<float> h = numbers(4, 32);
  const auto forward = [&] {
    EXPECT_EQ(engine->api.forward(engine->handle, 1, h.data(), h.data()), GDN_OK);
  };
  engine->step(0, 1);
  const std::vector<float> first = engine->step(1, 7);
  forward();
  EXPECT_EQ(watch().captures, 3U);
  ASSERT_EQ(engine->api.bind_q4(engine->handle, 1, 20, 21, 22), GDN_OK);
  ASSERT_EQ(engine->api.reset(engine->handle, GDN_ALL_LAYERS), GDN_OK);
  EXPECT_NE(bits(engine->step(1, 7)), bits(first)) << "the new weights, not the old graph";
  EXPECT_EQ(watch().captures, 4U);
  engine->step(0, 1);
  EXPECT_EQ(watch().captures, 4U) << "the other layer's graph stays";
  forward();
  EXPECT_EQ(watch().captures, 5U);
}

TEST(HostMemory, IsWhatTheFormulaSays) {
  for (const bool observe : {true, false}) {
    for (const bool q8 : {true, false}) {
      gdn_options options = testing::observing();
      options.observe = observe ? 1 : 0;
      options.q8_activations = q8 ? 1 : 0;
      const gdn_shape shape = testing::small_shape();
      const host::DeviceBytes want = host::device_bytes(shape, options);
      const auto engine = watched(shape, options);
      EXPECT_EQ(watch().device_bytes(), want.open());
      engine->load(0, 1);
      EXPECT_EQ(watch().device_bytes(), want.open() + want.small_tensors + want.f32_projections);
      engine->load_small(1, 1);
      EXPECT_EQ(watch().device_bytes(),
                want.open() + 2 * want.small_tensors + want.f32_projections);
      ASSERT_EQ(engine->api.pool_init(engine->handle, want.q4_projections), GDN_OK);
      engine->put_projections(10, 400);
      bind(*engine, 1);
      engine->step(1, 1);
      EXPECT_EQ(watch().device_bytes(),
                want.open() + 2 * want.small_tensors + want.f32_projections + want.q4_projections)
          << "a layer bound to the pool holds no float32 projection";
      uint64_t id = 0;
      ASSERT_EQ(engine->api.snapshot(engine->handle, 0, &id), GDN_OK);
      EXPECT_EQ(watch().device_bytes(), want.open() + 2 * want.small_tensors +
                                            want.f32_projections + want.q4_projections +
                                            want.snapshot_of_a_layer);
    }
  }
}

TEST(HostMemory, OfThe27BShapeIsWhatItsPageSays) {
  gdn_shape shape = testing::small_shape(48);
  shape.hidden_size = 5120;
  shape.num_k_heads = 16;
  shape.head_k_dim = shape.head_v_dim = 128;
  shape.num_v_heads = 48;
  shape.conv_kernel = 4;
  gdn_options options = testing::observing();
  options.observe = 0;
  const std::string printed = host::text_of(host::device_bytes(shape, options), 48);
  std::ifstream file(SOURCE_DIR "/docs/memory.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(page.find(printed), std::string::npos) << "docs/memory.md should hold\n" << printed;
}

// Another block size for every kernel whose order of summation allows one.
void with_other_blocks(KernelId kernel, LaunchShape& shape, void* params) {
  const auto of = [params]<class P>(P*) -> const P& { return *static_cast<const P*>(params); };
  switch (kernel) {
    case KernelId::conv: {
      const auto& p = of(static_cast<kernels::Conv*>(nullptr));
      shape = kernels::conv_shape(p.channels, p.taps, 32);
      break;
    }
    case KernelId::delta_rule: {
      const auto& p = of(static_cast<kernels::DeltaRule*>(nullptr));
      shape = kernels::delta_rule_shape(p.v_heads, p.kd, p.vd, 64);
      break;
    }
    case KernelId::gates:
      shape = kernels::gates_shape(of(static_cast<kernels::Gates*>(nullptr)).count, 128);
      break;
    case KernelId::gated_norm: {
      const auto& p = of(static_cast<kernels::GatedNorm*>(nullptr));
      shape = kernels::gated_norm_shape(p.heads, p.head_dim, 128);
      break;
    }
    case KernelId::qk_norm: {
      const auto& p = of(static_cast<kernels::QkNorm*>(nullptr));
      shape = kernels::qk_norm_shape(p.k_heads, p.head_dim, 128);
      break;
    }
    case KernelId::gemv_f32: {
      const auto& p = of(static_cast<kernels::GemvF32*>(nullptr));
      shape = kernels::gemv_f32_shape(p.rows, p.cols, 256);
      break;
    }
    case KernelId::q8_activations: {
      const auto& p = of(static_cast<kernels::Q8Activations*>(nullptr));
      shape = kernels::q8_activations_shape(p.count, 32);
      break;
    }
    default:
      break;
  }
}

// All that two layers hold after some tokens; `change` is made to the watch before they are
// recorded.
std::vector<std::vector<uint32_t>> run_of(
    host::MakeBackend device, const std::function<void()>& change = [] {}) {
  gdn_options options = testing::observing();
  options.q8_activations = 1;
  const auto engine = watched(testing::small_shape(), options, device);
  change();
  engine->load(0, 1);
  engine->load_small(1, 2);
  EXPECT_EQ(engine->api.pool_init(engine->handle, engine->projections_bytes()), GDN_OK);
  engine->put_projections(10, 400);
  bind(*engine, 1);
  std::vector<std::vector<uint32_t>> all;
  for (const int64_t layer : {0, 1}) {
    engine->run(layer, numbers(5, 6 * 32));
    for (int t = 0; t < GDN_TENSOR_COUNT; ++t) {
      all.push_back(bits(engine->read(layer, static_cast<gdn_tensor>(t))));
    }
  }
  return all;
}

// A device by the name of the engine that is built on it.
host::MakeBackend device_of(const std::string& engine) {
  return engine == "cuda"   ? host::make_cuda
         : engine == "simt" ? host::make_simt
                            : host::make_simt_checked;
}

std::vector<std::string> engines_of_kernels() {
  std::vector<std::string> names = testing::engines_here();
  std::erase(names, "twin");
  return names;
}

class HostLaunches : public ::testing::TestWithParam<std::string> {};

TEST_P(HostLaunches, AnotherBlockSizeChangesNoBit) {
  EXPECT_EQ(run_of(device_of(GetParam()), [] { watch().spoil = with_other_blocks; }),
            run_of(host::make_simt));
}

INSTANTIATE_TEST_SUITE_P(Every, HostLaunches, ::testing::ValuesIn(engines_of_kernels()),
                         [](const auto& engine) { return engine.param; });

}  // namespace
}  // namespace gdn
