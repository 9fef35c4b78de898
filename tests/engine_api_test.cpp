// Engines as tables of functions: what is built in, what is refused, and that a refusal changes
// nothing.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <set>

#include "tests/opened_engine.h"

namespace gdn {
namespace {

using testing::array;
using testing::numbers;
using testing::Opened;
using testing::Weights;

TEST(BuiltIn, EnginesAreRegisteredAndSortedByName) {
  std::vector<std::string> names;
  for (size_t i = 0; i < gdn_builtin_count(); ++i) {
    names.emplace_back(gdn_builtin(i)->name);
    EXPECT_EQ(gdn_builtin(i)->abi_version, GDN_ABI_VERSION);
    EXPECT_EQ(gdn_builtin(i)->struct_size, sizeof(gdn_api));
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"ascend_sim", "cuda", "simt", "simt_checked", "twin"}));
  EXPECT_EQ(gdn_builtin(gdn_builtin_count()), nullptr);
}

TEST(BuiltIn, AnEngineWithoutItsDeviceSaysSoAndWhy) {
  const gdn_shape shape = testing::small_shape();
  const gdn_options options = testing::observing();
  for (size_t i = 0; i < gdn_builtin_count(); ++i) {
    const gdn_api& api = *gdn_builtin(i);
    gdn_engine* engine = nullptr;
    const gdn_status status = api.open(&shape, &options, &engine);
    if (status != GDN_OK) {
      EXPECT_STREQ(api.name, "cuda");
      EXPECT_EQ(status, GDN_NOT_AVAILABLE);
      EXPECT_STRNE(api.last_error(nullptr), "");
      EXPECT_EQ(engine, nullptr);
    }
    api.close(engine);
  }
}

// A registrar that the linker drops vanishes without a word, so what is registered is held against
// the files. A file is named after its bug.
TEST(BuiltIn, EveryMutantFileIsRegisteredUnderItsName) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(SOURCE_DIR "/device/mutants")) {
    if (entry.path().extension() == ".cpp") files.insert(entry.path().stem());
  }
  EXPECT_GE(files.size(), 11U);
  EXPECT_EQ(gdn_mutant_count(), files.size());
  std::vector<std::string> names;
  for (size_t i = 0; i < gdn_mutant_count(); ++i) {
    const gdn_mutant& mutant = *gdn_mutant_at(i);
    names.emplace_back(mutant.name);
    EXPECT_TRUE(files.contains(mutant.name)) << mutant.name;
    EXPECT_STREQ(mutant.api->name, mutant.name);
    EXPECT_STRNE(mutant.bug, "");
    EXPECT_STRNE(mutant.op, "");
  }
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(gdn_mutant_at(gdn_mutant_count()), nullptr);
}

TEST(BuiltIn, AMutantDescribesItselfAsTheEngineItWouldBe) {
  std::set<std::string> honest;
  for (size_t i = 0; i < gdn_builtin_count(); ++i) honest.insert(gdn_builtin(i)->describe());
  for (size_t i = 0; i < gdn_mutant_count(); ++i) {
    EXPECT_TRUE(honest.contains(gdn_mutant_at(i)->api->describe())) << gdn_mutant_at(i)->name;
  }
}

struct WrongOpen {
  const char* what;
  std::function<void(gdn_shape&, gdn_options&)> change;
};

const WrongOpen wrong_opens[] = {
    {"hidden_size", [](auto& s, auto&) { s.hidden_size = 0; }},
    {"num_k_heads", [](auto& s, auto&) { s.num_k_heads = -1; }},
    {"num_k_heads no divisor", [](auto& s, auto&) { s.num_k_heads = 3; }},
    {"head_k_dim", [](auto& s, auto&) { s.head_k_dim = 0; }},
    {"num_v_heads", [](auto& s, auto&) { s.num_v_heads = 0; }},
    {"head_v_dim", [](auto& s, auto&) { s.head_v_dim = INT64_MIN; }},
    {"conv_kernel", [](auto& s, auto&) { s.conv_kernel = 0; }},
    {"num_layers", [](auto& s, auto&) { s.num_layers = 0; }},
    {"rms_norm_eps", [](auto& s, auto&) { s.rms_norm_eps = NAN; }},
    {"l2norm_eps", [](auto& s, auto&) { s.l2norm_eps = -1; }},
    {"overflow of heads", [](auto& s, auto&) { s.head_k_dim = INT64_MAX; }},
    {"overflow of layers", [](auto& s, auto&) { s.num_layers = INT64_MAX; }},
    {"overflow of weights", [](auto& s, auto&) { s.hidden_size = INT64_MAX; }},
    {"overflow of taps", [](auto& s, auto&) { s.conv_kernel = INT64_MAX / 2; }},
    {"options.struct_size", [](auto&, auto& o) { o.struct_size += 1; }},
    {"options.snapshots", [](auto&, auto& o) { o.snapshots = -1; }},
    {"q8 without blocks", [](auto& s, auto& o) { s.hidden_size = 33, o.q8_activations = 1; }},
};

ON_EVERY_ENGINE(EngineOpen);

TEST_P(EngineOpen, RefusesEveryWrongArgument) {
  const gdn_api& api = testing::api_named(testing::engine_under_test());
  const gdn_shape shape = testing::small_shape();
  const gdn_options options = testing::observing();
  gdn_engine* engine = nullptr;
  EXPECT_EQ(api.open(nullptr, &options, &engine), GDN_INVALID_ARGUMENT);
  EXPECT_EQ(api.open(&shape, nullptr, &engine), GDN_INVALID_ARGUMENT);
  EXPECT_EQ(api.open(&shape, &options, nullptr), GDN_INVALID_ARGUMENT);
  for (const WrongOpen& wrong : wrong_opens) {
    gdn_shape s = shape;
    gdn_options o = options;
    wrong.change(s, o);
    EXPECT_EQ(api.open(&s, &o, &engine), GDN_INVALID_ARGUMENT) << wrong.what;
    EXPECT_STRNE(api.last_error(nullptr), "") << wrong.what;
    EXPECT_EQ(engine, nullptr);
  }
  EXPECT_EQ(api.open(&shape, &options, &engine), GDN_OK) << "the next right call works";
  EXPECT_STREQ(api.last_error(nullptr), "");
  api.close(engine);
  api.close(nullptr);
}

TEST_P(EngineOpen, RefusesMoreMemoryThanThereIs) {
  const gdn_api& api = testing::api_named(testing::engine_under_test());
  const gdn_options options = testing::observing();
  gdn_engine* engine = nullptr;
  gdn_shape shape = testing::small_shape();
  shape.num_layers = int64_t{1} << 40;
  EXPECT_EQ(api.open(&shape, &options, &engine), GDN_OUT_OF_MEMORY);
  shape = testing::small_shape();
  shape.head_v_dim = int64_t{1} << 40;
  EXPECT_EQ(api.open(&shape, &options, &engine), GDN_OUT_OF_MEMORY);
  EXPECT_EQ(engine, nullptr);
}

ON_EVERY_ENGINE(EngineCalls);

TEST_P(EngineCalls, RefuseANullHandle) {
  const gdn_api& api = testing::api_named(testing::engine_under_test());
  std::vector<float> x(32);
  uint64_t n = 0;
  EXPECT_EQ(api.step(nullptr, 0, x.data(), x.data()), GDN_INVALID_ARGUMENT);
  EXPECT_EQ(api.reset(nullptr, GDN_ALL_LAYERS), GDN_INVALID_ARGUMENT);
  EXPECT_EQ(api.pool_clear(nullptr), GDN_INVALID_ARGUMENT);
  EXPECT_EQ(api.snapshot(nullptr, 0, &n), GDN_INVALID_ARGUMENT);
  EXPECT_EQ(api.recurrent(nullptr, nullptr), GDN_INVALID_ARGUMENT);
}

using Refused = std::function<gdn_status(const gdn_api&, gdn_engine*)>;
struct WrongCall {
  const char* what;
  gdn_status status;
  Refused call;
};

std::vector<float>& some() {
  static std::vector<float> values(4096, 1.0F);
  return values;
}

uint64_t scratch_count = 0;
int64_t scratch_size = 0;

gdn_status load(const gdn_api& api, gdn_engine* e,
                const std::function<void(gdn_layer_weights&)>& change) {
  static const Weights weights(testing::small_shape(), 1);
  gdn_layer_weights all = weights.all();
  change(all);
  return api.load_layer_f32(e, 2, &all);
}

const WrongCall wrong_calls[] = {
    {"step of layer -1", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) { return a.step(e, -1, some().data(), some().data()); }},
    {"step of layer nl", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) { return a.step(e, 3, some().data(), some().data()); }},
    {"step of a layer not loaded", GDN_NOT_LOADED,
     [](auto& a, auto* e) { return a.step(e, 2, some().data(), some().data()); }},
    {"step without h", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) { return a.step(e, 0, nullptr, some().data()); }},
    {"step without out", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) { return a.step(e, 0, some().data(), nullptr); }},
    {"run of -1 tokens", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) { return a.run(e, 0, -1, some().data(), some().data()); }},
    {"run without h", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) { return a.run(e, 0, 2, nullptr, some().data()); }},
    {"forward of -1 tokens", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) { return a.forward(e, -1, some().data(), some().data()); }},
    {"forward with a layer not loaded", GDN_NOT_LOADED,
     [](auto& a, auto* e) { return a.forward(e, 1, some().data(), some().data()); }},
    {"reset of layer -2", GDN_INVALID_ARGUMENT, [](auto& a, auto* e) { return a.reset(e, -2); }},
    {"reset of layer nl", GDN_INVALID_ARGUMENT, [](auto& a, auto* e) { return a.reset(e, 3); }},
    {"unload of all", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) { return a.unload_layer(e, GDN_ALL_LAYERS); }},
    {"read of layer nl", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) { return a.read(e, 3, GDN_S, some().data(), 4096, &scratch_size); }},
    {"read of tensor 15", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) {
       return a.read(e, 0, static_cast<gdn_tensor>(15), some().data(), 4096, &scratch_size);
     }},
    {"read of tensor -1", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) {
       return a.read(e, 0, static_cast<gdn_tensor>(-1), some().data(), 4096, &scratch_size);
     }},
    {"read to nowhere", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) { return a.read(e, 0, GDN_S, nullptr, 0, nullptr); }},
    {"read with a negative capacity", GDN_TOO_SMALL,
     [](auto& a, auto* e) { return a.read(e, 0, GDN_S, some().data(), -1, &scratch_size); }},
    {"export to nowhere", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) { return a.state_export(e, 0, nullptr, 0, nullptr); }},
    {"export of layer -1", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) { return a.state_export(e, -1, nullptr, 0, &scratch_count); }},
    {"export one byte short", GDN_TOO_SMALL,
     [](auto& a, auto* e) { return a.state_export(e, 0, some().data(), 951, &scratch_count); }},
    {"import of layer nl", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) { return a.state_import(e, 3, some().data(), 952); }},
    {"snapshot without id", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) { return a.snapshot(e, 0, nullptr); }},
    {"snapshot of layer nl", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) { return a.snapshot(e, 3, &scratch_count); }},
    {"rollback to what never was", GDN_NOT_FOUND,
     [](auto& a, auto* e) { return a.rollback(e, 0); }},
    {"load without weights", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) { return a.load_layer_f32(e, 2, nullptr); }},
    {"load of another struct_size", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) { return load(a, e, [](auto& w) { w.struct_size = 4; }); }},
    {"load without z", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) { return load(a, e, [](auto& w) { w.z = nullptr; }); }},
    {"load without a", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) { return load(a, e, [](auto& w) { w.a = nullptr; }); }},
    {"load without norm", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) { return load(a, e, [](auto& w) { w.norm = nullptr; }); }},
    {"buffer without handle", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) { return a.buffer_create(e, 8, nullptr); }},
    {"buffer larger than memory", GDN_OUT_OF_MEMORY,
     [](auto& a, auto* e) { return a.buffer_create(e, UINT64_MAX, &scratch_count); }},
    {"write to no buffer", GDN_NOT_FOUND,
     [](auto& a, auto* e) { return a.buffer_write(e, 0, 0, some().data(), 4); }},
    {"write beyond", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) { return a.buffer_write(e, 1, 61, some().data(), 4); }},
    {"write whose end overflows", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) { return a.buffer_write(e, 1, UINT64_MAX - 1, some().data(), 4); }},
    {"write of null", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) { return a.buffer_write(e, 1, 0, nullptr, 4); }},
    {"read of more than a buffer", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) { return a.buffer_read(e, 1, 0, some().data(), 65); }},
    {"read to null", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) { return a.buffer_read(e, 1, 0, nullptr, 4); }},
    {"release of no buffer", GDN_NOT_FOUND,
     [](auto& a, auto* e) { return a.buffer_release(e, 2); }},
    {"dequant of null", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) { return a.dequant(e, 4, 32, nullptr, some().data()); }},
    {"dequant to null", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) { return a.dequant(e, 4, 32, some().data(), nullptr); }},
    {"dequant of 2 rows", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) { return a.dequant(e, 2, 32, some().data(), some().data()); }},
    {"dequant of 16 columns", GDN_INVALID_ARGUMENT,
     [](auto& a, auto* e) { return a.dequant(e, 4, 16, some().data(), some().data()); }},
};

TEST_P(EngineCalls, RefuseEveryWrongArgumentAndChangeNothing) {
  Opened engine;
  engine.load(0, 1);
  engine.load_small(1, 2);
  engine.step(0, 3);
  gdn_buffer buffer = 0;
  ASSERT_EQ(engine.api.buffer_create(engine.handle, 64, &buffer), GDN_OK);
  ASSERT_EQ(buffer, 1U);
  const auto states = engine.states();
  const auto values = some();
  for (const WrongCall& wrong : wrong_calls) {
    EXPECT_EQ(wrong.call(engine.api, engine.handle), wrong.status) << wrong.what;
    EXPECT_NE(engine.error(), "") << wrong.what;
    EXPECT_EQ(engine.states(), states) << wrong.what;
    EXPECT_EQ(some(), values) << wrong.what;
  }
  engine.step(0, 4);
  EXPECT_EQ(engine.error(), "") << "the next right call works";
}

TEST_P(EngineCalls, TakeNoTokens) {
  Opened engine;
  for (const int64_t layer : {0, 1, 2}) engine.load(layer, 1);
  engine.step(1, 5);
  const auto states = engine.states();
  EXPECT_EQ(engine.api.run(engine.handle, 1, 0, nullptr, nullptr), GDN_OK);
  EXPECT_EQ(engine.api.forward(engine.handle, 0, nullptr, nullptr), GDN_OK);
  EXPECT_EQ(engine.states(), states);
}

TEST_P(EngineCalls, OnlyReadTheirInputs) {
  Opened engine;
  const Weights weights(engine.shape, 1);
  const Weights same(engine.shape, 1);
  const gdn_layer_weights all = weights.all();
  ASSERT_EQ(engine.api.load_layer_f32(engine.handle, 0, &all), GDN_OK);
  const std::vector<float> h = numbers(4, 3 * 32);
  engine.run(0, h);
  EXPECT_EQ(h, numbers(4, 3 * 32));
  EXPECT_EQ(weights.qkv, same.qkv);
  EXPECT_EQ(weights.conv, same.conv);
  EXPECT_EQ(weights.out, same.out);
}

ON_EVERY_ENGINE(EngineApply);

TEST_P(EngineApply, RefusesEveryWrongArray) {
  const Opened engine;
  gdn_shape shape = testing::small_shape();
  std::vector<float> a(4), b(4), A_log(4), dt_bias(4), three(3), beta(4, 7.0F), g(4, 7.0F);
  const std::vector<gdn_array> in = {array("a", a), array("b", b), array("A_log", A_log),
                                     array("dt_bias", dt_bias)};
  const std::vector<gdn_array> out = {array("beta", beta), array("g", g)};
  const auto refused = [&](const std::vector<gdn_array>& inputs,
                           const std::vector<gdn_array>& outputs) {
    const gdn_status status = testing::apply(engine, GDN_GATES, shape, inputs, outputs);
    EXPECT_NE(engine.error(), "");
    EXPECT_EQ(beta, std::vector<float>(4, 7.0F));
    return status == GDN_INVALID_ARGUMENT;
  };
  const auto changed = [](std::vector<gdn_array> arrays, size_t i, const gdn_array& other) {
    arrays[i] = other;
    return arrays;
  };
  EXPECT_TRUE(refused({in[0], in[1], in[2]}, out)) << "one is missing";
  EXPECT_TRUE(refused(in, {out[0]})) << "an output is missing";
  EXPECT_TRUE(refused(changed(in, 1, array("b", three)), out)) << "a wrong count";
  EXPECT_TRUE(refused(changed(in, 1, array("c", b)), out)) << "an unknown name";
  EXPECT_TRUE(refused(changed(in, 1, in[0]), out)) << "a name given twice";
  EXPECT_TRUE(refused(changed(in, 1, {nullptr, GDN_F32, b.data(), 4}), out)) << "no name";
  EXPECT_TRUE(refused(changed(in, 1, {"b", GDN_BF16, b.data(), 4}), out)) << "a wrong format";
  EXPECT_TRUE(refused(changed(in, 1, {"b", GDN_F32, nullptr, 4}), out)) << "null";
  EXPECT_TRUE(refused(changed(in, 1, {"b", GDN_F32, b.data(), -4}), out)) << "a negative count";
  EXPECT_EQ(engine.api.apply(engine.handle, GDN_GATES, nullptr, in.data(), 4, out.data(), 2),
            GDN_INVALID_ARGUMENT);
  EXPECT_EQ(engine.api.apply(engine.handle, GDN_GATES, &shape, nullptr, 4, out.data(), 2),
            GDN_INVALID_ARGUMENT);
  EXPECT_EQ(engine.api.apply(engine.handle, GDN_GATES, &shape, in.data(), 4, nullptr, 2),
            GDN_INVALID_ARGUMENT);
  EXPECT_EQ(testing::apply(engine, static_cast<gdn_operator>(7), shape, in, out),
            GDN_INVALID_ARGUMENT);
  shape.num_v_heads = 3;
  EXPECT_TRUE(refused(in, out)) << "a wrong shape";
  shape.num_v_heads = 4;
  EXPECT_EQ(testing::apply(engine, GDN_GATES, shape, in, out), GDN_OK);
  EXPECT_NE(beta[0], 7.0F);
}

}  // namespace
}  // namespace gdn
