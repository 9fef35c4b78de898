// The engines over one kernel source agree bit for bit: the GPU, where there is one, with the
// simulator, and the simulator with all checks with the one without. Random odd shapes, float32 and
// 4-bit weights, both kinds of activations; every tensor of every layer after every call.
#include "reference/rng.h"
#include "tests/opened_engine.h"

namespace gdn {
namespace {

using testing::bits;
using testing::numbers;
using testing::Opened;

struct Drawn {
  gdn_shape shape;
  gdn_options options;
  bool four_bit;
};

// Dimensions that no warp or vector divides; for 4-bit weights and q8_0 activations those of their
// blocks.
Drawn draw(uint64_t seed) {
  Rng rng(seed);
  Drawn drawn = {testing::small_shape(2), testing::observing(), rng.range(0, 1) == 1};
  gdn_shape& s = drawn.shape;
  constexpr int64_t ratios[] = {1, 2, 3, 5};
  s.num_k_heads = rng.range(1, 3);
  s.num_v_heads = s.num_k_heads * ratios[rng.range(0, 3)];
  s.conv_kernel = rng.range(1, 6);
  s.head_k_dim = rng.range(1, 70);
  s.head_v_dim = rng.range(1, 70);
  s.hidden_size = rng.range(1, 200);
  drawn.options.q8_activations = rng.range(0, 3) == 0 ? 1 : 0;
  if (drawn.four_bit || drawn.options.q8_activations != 0) {
    // vh vd is a multiple of 32 where vd is one; 2 kh kd of 4 where kd is even.
    s.hidden_size = 32 * rng.range(1, 6);
    s.head_v_dim = 32 * rng.range(1, 2);
    s.head_k_dim = 2 * rng.range(1, 35);
  }
  return drawn;
}

// Everything that an engine shows of a case: outputs, tensors, states.
std::vector<std::vector<uint32_t>> shown(const std::string& name, const Drawn& drawn,
                                         uint64_t seed) {
  std::vector<std::vector<uint32_t>> all;
  Opened engine(drawn.shape, drawn.options, name);
  const auto keep_tensors = [&] {
    for (const int64_t layer : {0, 1}) {
      for (int t = 0; t < GDN_TENSOR_COUNT; ++t) {
        all.push_back(bits(engine.read(layer, static_cast<gdn_tensor>(t))));
      }
    }
  };
  if (drawn.four_bit) {
    EXPECT_EQ(engine.api.pool_init(engine.handle, engine.projections_bytes()), GDN_OK);
    engine.put_projections(10, seed);
  }
  for (const int64_t layer : {0, 1}) {
    const uint64_t of_layer = seed + 100 * static_cast<uint64_t>(layer);
    if (drawn.four_bit) {
      engine.load_small(layer, of_layer);
      EXPECT_EQ(engine.api.bind_q4(engine.handle, layer, 10, 11, 12), GDN_OK) << engine.error();
    } else {
      engine.load(layer, of_layer);
    }
    all.push_back(bits(engine.step(layer, seed)));
  }
  keep_tensors();
  all.push_back(bits(engine.run(0, numbers(seed + 1, 2 * drawn.shape.hidden_size))));
  std::vector<float> h = numbers(seed + 2, 2 * drawn.shape.hidden_size);
  EXPECT_EQ(engine.api.forward(engine.handle, 2, h.data(), h.data()), GDN_OK) << engine.error();
  all.push_back(bits(h));
  keep_tensors();
  return all;
}

// The same NaN in both counts as the same; any NaN does.
void make_nan_alike(std::vector<std::vector<uint32_t>>& all) {
  for (std::vector<uint32_t>& values : all) {
    for (uint32_t& value : values) {
      if ((value & 0x7fffffffU) > 0x7f800000U) value = 0x7fffffffU;
    }
  }
}

std::string text_of(const gdn_shape& s) {
  std::string text;
  for (const int64_t n :
       {s.hidden_size, s.num_k_heads, s.head_k_dim, s.num_v_heads, s.head_v_dim, s.conv_kernel}) {
    text += " " + std::to_string(n);
  }
  return text;
}

void expect_agreement(const std::string& one, const std::string& other, const Drawn& drawn,
                      uint64_t seed) {
  auto want = shown(one, drawn, seed);
  auto got = shown(other, drawn, seed);
  make_nan_alike(want);
  make_nan_alike(got);
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(got[i], want[i]) << other << " and " << one << " differ in array " << i << ", seed "
                               << seed << ", hidden kh kd vh vd ck =" << text_of(drawn.shape)
                               << (drawn.four_bit ? ", 4-bit" : ", float32");
  }
}

// What runs simt's kernels another way on this machine. A GPU that is not there is not among them.
std::vector<std::string> other_machines() {
  std::vector<std::string> names = testing::engines_here();
  std::erase(names, "twin");
  std::erase(names, "simt");
  return names;
}

class EnginesAgree : public ::testing::TestWithParam<std::string> {};

TEST_P(EnginesAgree, WithSimtOnRandomOddShapes) {
  const uint64_t cases = GetParam() == "cuda" ? 200 : 12;
  for (uint64_t seed = 1; seed <= cases; ++seed) {
    expect_agreement("simt", GetParam(), draw(seed), seed);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, EnginesAgree, ::testing::ValuesIn(other_machines()),
                         [](const auto& engine) { return engine.param; });

// One layer of the 27B shape; the checks would make the simulator take minutes.
std::vector<std::string> full_size_machines() {
  std::vector<std::string> names = other_machines();
  std::erase(names, "simt_checked");
  return names;
}

class EnginesAgreeAtFullSize : public ::testing::TestWithParam<std::string> {};

TEST_P(EnginesAgreeAtFullSize, WithSimtOnThe27BShape) {
  Drawn drawn = {testing::small_shape(2), testing::observing(), false};
  drawn.shape.hidden_size = 5120;
  drawn.shape.num_k_heads = 16;
  drawn.shape.head_k_dim = drawn.shape.head_v_dim = 128;
  drawn.shape.num_v_heads = 48;
  drawn.shape.conv_kernel = 4;
  for (const bool four_bit : {false, true}) {
    drawn.four_bit = four_bit;
    expect_agreement("simt", GetParam(), drawn, 1);
  }
}

// Without a GPU there is nothing to run.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EnginesAgreeAtFullSize);
INSTANTIATE_TEST_SUITE_P(Every, EnginesAgreeAtFullSize, ::testing::ValuesIn(full_size_machines()),
                         [](const auto& engine) { return engine.param; });

}  // namespace
}  // namespace gdn
