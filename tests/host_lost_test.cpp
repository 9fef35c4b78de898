// A fault that poisons a GPU's context, in a process of its own: the engine is lost, for ever and
// with its reason, and so is every other handle of the process.
#include "device/engines/cuda.h"
#include "device/kernels/gemv_f32.cuh"
#include "tests/opened_engine.h"
#include "tests/watched_backend.h"

namespace gdn {
namespace {

using testing::numbers;
using testing::Opened;
using testing::watch;

std::vector<std::string> gpus() {
  std::vector<std::string> names = testing::engines_here();
  std::erase_if(names, [](const std::string& name) { return name != "cuda"; });
  return names;
}

class LostGpu : public ::testing::TestWithParam<std::string> {};

TEST_P(LostGpu, IsSaidByEveryLaterCallOfEveryHandle) {
  watch() = {};
  watch().device = host::make_cuda;
  Opened engine(testing::small_shape(), testing::observing(), testing::watched_api());
  Opened other(testing::small_shape(), testing::observing(), "cuda");
  engine.load(0, 1);
  other.load(0, 1);
  other.step(0, 2);
  // Weights at an address that is none.
  watch().spoil = [](host::KernelId kernel, LaunchShape&, void* params) {
    if (kernel != host::KernelId::gemv_f32) return;
    static_cast<kernels::GemvF32*>(params)->w = {reinterpret_cast<const float*>(uintptr_t{4096})};
  };
  const std::vector<float> h = numbers(3, engine.shape.hidden_size);
  std::vector<float> out(h.size(), 7.0F);
  EXPECT_EQ(engine.api.step(engine.handle, 0, h.data(), out.data()), GDN_LOST);
  const std::string why = engine.error();
  EXPECT_NE(why, "");
  EXPECT_EQ(engine.api.step(engine.handle, 0, h.data(), out.data()), GDN_LOST);
  EXPECT_EQ(engine.api.reset(engine.handle, GDN_ALL_LAYERS), GDN_LOST);
  EXPECT_EQ(engine.error(), why);
  EXPECT_EQ(other.api.step(other.handle, 0, h.data(), out.data()), GDN_LOST);
  EXPECT_EQ(other.api.pool_clear(other.handle), GDN_LOST);
  gdn_engine* third = nullptr;
  const gdn_options options = testing::observing();
  EXPECT_EQ(other.api.open(&other.shape, &options, &third), GDN_LOST)
      << other.api.last_error(nullptr);
  EXPECT_EQ(third, nullptr);
}

// Without a GPU there is nothing to run.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LostGpu);
INSTANTIATE_TEST_SUITE_P(Every, LostGpu, ::testing::ValuesIn(gpus()),
                         [](const auto& engine) { return engine.param; });

}  // namespace
}  // namespace gdn
