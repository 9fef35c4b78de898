// What tests of an engine share: running on every engine that works here, opening one by name,
// weights and inputs made from a seed, and calls of apply with arrays in hand. Knows the C ABI
// alone.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "device/gdn.h"

namespace gdn::testing {

inline const gdn_api& api_named(std::string_view name) {
  for (size_t i = 0; i < gdn_builtin_count(); ++i) {
    if (gdn_builtin(i)->name == name) return *gdn_builtin(i);
  }
  for (size_t i = 0; i < gdn_mutant_count(); ++i) {
    if (gdn_mutant_at(i)->name == name) return *gdn_mutant_at(i)->api;
  }
  ADD_FAILURE() << "no engine is named " << name;
  std::abort();
}

// 4-bit projections fit: hidden and vh vd are multiples of 32, all rows of 4. kd and vd differ.
inline gdn_shape small_shape(int64_t layers = 3) {
  return {.hidden_size = 32,
          .num_k_heads = 2,
          .head_k_dim = 4,
          .num_v_heads = 4,
          .head_v_dim = 8,
          .conv_kernel = 3,
          .num_layers = layers,
          .rms_norm_eps = 1e-6F,
          .l2norm_eps = 1e-6F};
}

inline gdn_options observing() {
  gdn_options options = {};
  options.struct_size = sizeof options;
  options.observe = 1;
  options.snapshots = 3;
  return options;
}

// Multiples of 2^-12 in [-1, 1), from the seed alone.
inline std::vector<float> numbers(uint64_t seed, int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  uint64_t state = seed * 0x9E3779B97F4A7C15U + 1;
  for (float& value : values) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    value = (static_cast<float>(state >> 51) - 4096.0F) * 0x1p-12F;
  }
  return values;
}

inline int64_t conv_dim(const gdn_shape& s) {
  return 2 * s.num_k_heads * s.head_k_dim + s.num_v_heads * s.head_v_dim;
}
inline int64_t v_dim(const gdn_shape& s) { return s.num_v_heads * s.head_v_dim; }

struct Weights {
  std::vector<float> qkv, z, out, b, a, conv, A_log, dt_bias, norm;

  Weights(const gdn_shape& s, uint64_t seed)
      : qkv(numbers(seed, conv_dim(s) * s.hidden_size)),
        z(numbers(seed + 1, v_dim(s) * s.hidden_size)),
        out(numbers(seed + 2, s.hidden_size * v_dim(s))),
        b(numbers(seed + 3, s.num_v_heads * s.hidden_size)),
        a(numbers(seed + 4, s.num_v_heads * s.hidden_size)),
        conv(numbers(seed + 5, conv_dim(s) * s.conv_kernel)),
        A_log(numbers(seed + 6, s.num_v_heads)),
        dt_bias(numbers(seed + 7, s.num_v_heads)),
        norm(numbers(seed + 8, s.head_v_dim)) {}

  gdn_layer_weights all() const {
    return {sizeof(gdn_layer_weights),
            qkv.data(),
            z.data(),
            out.data(),
            b.data(),
            a.data(),
            conv.data(),
            A_log.data(),
            dt_bias.data(),
            norm.data()};
  }
  gdn_layer_weights small_ones() const {
    gdn_layer_weights weights = all();
    weights.qkv = weights.z = weights.out = nullptr;
    return weights;
  }
};

// Tiles of a [rows, cols] matrix: all scales are 2^-7 (f16 0x2000), nibbles from the seed.
inline std::vector<uint8_t> tiles(uint64_t seed, int64_t rows, int64_t cols) {
  std::vector<uint8_t> bytes(static_cast<size_t>(rows / 4 * (cols / 32) * 72));
  uint64_t state = seed + 77;
  for (size_t i = 0; i < bytes.size(); ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const size_t place = i % 72;
    bytes[i] = place >= 8 ? static_cast<uint8_t>(state >> 56) : place % 2 == 0 ? 0x00 : 0x20;
  }
  return bytes;
}

// The engine that the test at hand is about.
inline std::string& engine_under_test() {
  static std::string name = "twin";
  return name;
}

inline bool works_here(const gdn_api& api) {
  const gdn_shape shape = small_shape(1);
  const gdn_options options = observing();
  gdn_engine* engine = nullptr;
  const gdn_status status = api.open(&shape, &options, &engine);
  if (status == GDN_OK) api.close(engine);
  return status != GDN_NOT_AVAILABLE;
}

// By name; an engine whose device is not on this machine is not among them.
inline std::vector<std::string> all_engines_here() {
  std::vector<std::string> names;
  for (size_t i = 0; i < gdn_builtin_count(); ++i) {
    if (works_here(*gdn_builtin(i))) names.emplace_back(gdn_builtin(i)->name);
  }
  return names;
}
// Those that have every call of the ABI, and not the recurrence alone.
inline std::vector<std::string> engines_here() {
  std::vector<std::string> names = all_engines_here();
  std::erase_if(names, [](const std::string& name) { return api_named(name).step == nullptr; });
  return names;
}

// A suite whose tests run on every engine: what the header promises holds for all of them alike.
class OnEveryEngine : public ::testing::TestWithParam<std::string> {
 protected:
  OnEveryEngine() { engine_under_test() = GetParam(); }
};
#define ON_EVERY_ENGINE(suite)                                                                \
  class suite : public ::gdn::testing::OnEveryEngine {};                                      \
  INSTANTIATE_TEST_SUITE_P(Every, suite, ::testing::ValuesIn(::gdn::testing::engines_here()), \
                           [](const auto& engine) { return engine.param; })

class Opened {
 public:
  explicit Opened(const gdn_shape& of_shape = small_shape(),
                  const gdn_options& options = observing(),
                  std::string_view name = engine_under_test())
      : Opened(of_shape, options, api_named(name)) {}
  Opened(const gdn_shape& of_shape, const gdn_options& options, const gdn_api& of_engine)
      : api(of_engine), shape(of_shape) {
    EXPECT_EQ(api.open(&shape, &options, &handle), GDN_OK) << api.last_error(nullptr);
  }
  ~Opened() { api.close(handle); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  std::string error() const { return api.last_error(handle); }

  void load(int64_t layer, uint64_t seed) {
    const Weights weights(shape, seed);
    const gdn_layer_weights all = weights.all();
    ASSERT_EQ(api.load_layer_f32(handle, layer, &all), GDN_OK) << error();
  }
  void load_small(int64_t layer, uint64_t seed) {
    const Weights weights(shape, seed);
    const gdn_layer_weights small = weights.small_ones();
    ASSERT_EQ(api.load_layer_f32(handle, layer, &small), GDN_OK) << error();
  }
  void put(uint64_t key, uint64_t seed, int64_t rows, int64_t cols) {
    const std::vector<uint8_t> bytes = tiles(seed, rows, cols);
    ASSERT_EQ(api.pool_put(handle, key, rows, cols, bytes.data()), GDN_OK) << error();
  }
  // Keys first, first+1, first+2 for qkv, z and out of this shape.
  void put_projections(uint64_t first, uint64_t seed) {
    put(first, seed, conv_dim(shape), shape.hidden_size);
    put(first + 1, seed + 1, v_dim(shape), shape.hidden_size);
    put(first + 2, seed + 2, shape.hidden_size, v_dim(shape));
  }
  uint64_t projections_bytes() const {
    const int64_t h = shape.hidden_size;
    return static_cast<uint64_t>((conv_dim(shape) * h + 2 * v_dim(shape) * h) / 32 * 18);
  }

  std::vector<float> step(int64_t layer, uint64_t seed) {
    const std::vector<float> h = numbers(seed, shape.hidden_size);
    std::vector<float> out(h.size());
    EXPECT_EQ(api.step(handle, layer, h.data(), out.data()), GDN_OK) << error();
    return out;
  }
  std::vector<float> run(int64_t layer, const std::vector<float>& h) {
    std::vector<float> out(h.size());
    const auto T = static_cast<int64_t>(h.size()) / shape.hidden_size;
    EXPECT_EQ(api.run(handle, layer, T, h.data(), out.data()), GDN_OK) << error();
    return out;
  }
  std::vector<float> read(int64_t layer, gdn_tensor tensor) {
    int64_t count = -1;
    EXPECT_EQ(api.read(handle, layer, tensor, nullptr, 0, &count), GDN_OK) << error();
    std::vector<float> values(static_cast<size_t>(count));
    if (count > 0) {
      EXPECT_EQ(api.read(handle, layer, tensor, values.data(), count, &count), GDN_OK) << error();
    }
    return values;
  }
  std::vector<uint8_t> state(int64_t layer) {
    uint64_t bytes = 0;
    EXPECT_EQ(api.state_export(handle, layer, nullptr, 0, &bytes), GDN_OK) << error();
    std::vector<uint8_t> exported(bytes);
    EXPECT_EQ(api.state_export(handle, layer, exported.data(), bytes, &bytes), GDN_OK) << error();
    return exported;
  }
  std::vector<std::vector<uint8_t>> states() {
    std::vector<std::vector<uint8_t>> all;
    for (int64_t l = 0; l < shape.num_layers; ++l) all.push_back(state(l));
    return all;
  }

  const gdn_api& api;
  gdn_shape shape;
  gdn_engine* handle = nullptr;
};

inline gdn_array array(const char* name, std::vector<float>& values) {
  return {name, GDN_F32, values.data(), static_cast<int64_t>(values.size())};
}
inline gdn_array array(const char* name, std::vector<uint8_t>& tile_bytes) {
  return {name, GDN_Q4_TILE, tile_bytes.data(), static_cast<int64_t>(tile_bytes.size() / 18 * 32)};
}

inline gdn_status apply(const Opened& engine, gdn_operator op, const gdn_shape& shape,
                        const std::vector<gdn_array>& inputs,
                        const std::vector<gdn_array>& outputs) {
  return engine.api.apply(engine.handle, op, &shape, inputs.data(), inputs.size(), outputs.data(),
                          outputs.size());
}

// Bits, so that -0 differs from 0 and a NaN equals itself.
inline std::vector<uint32_t> bits(const std::vector<float>& values) {
  std::vector<uint32_t> all;
  for (const float value : values) all.push_back(std::bit_cast<uint32_t>(value));
  return all;
}

}  // namespace gdn::testing
