// Captures: what the real files hold, weights by rule against hand-worked numbers, and everything
// that a capture can lack or get wrong.
#include "invariants/harness/capture.h"

#include <cstring>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "invariants/harness/generated_weights.h"

namespace gdn {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

std::string oracle(const std::string& name) {
  return SOURCE_DIR "/corpus/oracle/" + name + ".safetensors";
}

// A safetensors file under construction.
struct File {
  std::map<std::string, std::string> metadata;
  struct Entry {
    std::string type = "F32";
    std::vector<int64_t> shape;
    std::vector<uint8_t> bytes;
  };
  std::map<std::string, Entry> tensors;

  void put(const std::string& name, const std::vector<int64_t>& shape, float start = 0.5F) {
    Entry entry;
    entry.shape = shape;
    size_t count = 1;
    for (const int64_t extent : shape) count *= static_cast<size_t>(extent);
    std::vector<float> numbers(count);
    for (size_t i = 0; i < count; ++i) numbers[i] = start + static_cast<float>(i);
    entry.bytes.resize(4 * count);
    std::memcpy(entry.bytes.data(), numbers.data(), entry.bytes.size());
    tensors[name] = entry;
  }

  std::vector<uint8_t> bytes() const {
    Json header;
    header["__metadata__"] = metadata;
    std::vector<uint8_t> data;
    for (const auto& [name, entry] : tensors) {
      header[name] = {{"dtype", entry.type},
                      {"shape", entry.shape},
                      {"data_offsets", {data.size(), data.size() + entry.bytes.size()}}};
      data.insert(data.end(), entry.bytes.begin(), entry.bytes.end());
    }
    const std::string text = header.dump();
    std::vector<uint8_t> out;
    for (int i = 0; i < 8; ++i) out.push_back(static_cast<uint8_t>(text.size() >> (8 * i)));
    out.insert(out.end(), text.begin(), text.end());
    out.insert(out.end(), data.begin(), data.end());
    return out;
  }
};

struct Read {
  std::optional<Capture> capture;
  std::string why;
};

Read read(const File& file) {
  const std::vector<uint8_t> bytes = file.bytes();
  Read out;
  const auto parsed = Safetensors::parse(bytes, "made", &out.why);
  if (parsed) out.capture = read_capture(*parsed, &out.why);
  return out;
}

std::string why_refused(const File& file) {
  const Read out = read(file);
  EXPECT_FALSE(out.capture.has_value());
  EXPECT_THAT(out.why,
              AllOf(testing::StartsWith("made: "), HasSubstr("expected"), Not(HasSubstr("\n"))));
  return out.why;
}

// hidden 2, one key head of 3, two value heads of 5, two taps, calls of 2 and 1 tokens.
File layer_file() {
  File file;
  file.metadata = {{"format", "gdn-oracle-1"},
                   {"source", "by hand"},
                   {"tokens", "3"},
                   {"calls", "[2, 1]"},
                   {"config",
                    R"({"hidden_size": 2, "linear_num_key_heads": 1, "linear_key_head_dim": 3,
           "linear_num_value_heads": 2, "linear_value_head_dim": 5, "linear_conv_kernel_dim": 2,
           "rms_norm_eps": 1e-06, "l2norm_eps": 1e-06})"}};
  file.put("h", {3, 2});
  file.put("proj_qkv", {3, 16});
  file.put("proj_z", {3, 10});
  file.put("proj_b", {3, 2});
  file.put("proj_a", {3, 2});
  file.put("q", {3, 3}, 100);
  file.put("k", {3, 3}, 200);
  file.put("v", {3, 10}, 300);
  for (const char* name : {"g", "beta"}) file.put(name, {3, 2});
  for (const char* name : {"core_o", "normed"}) file.put(name, {3, 10});
  file.put("out", {3, 2});
  file.put("final_state", {2, 3, 5});
  file.put("linear_attn.conv1d.weight", {16, 1, 2});
  file.put("linear_attn.A_log", {2});
  file.put("linear_attn.dt_bias", {2});
  file.put("linear_attn.norm.weight", {5});
  file.put("linear_attn.in_proj_qkv.weight", {16, 2});
  file.put("linear_attn.in_proj_z.weight", {10, 2});
  file.put("linear_attn.in_proj_b.weight", {2, 2});
  file.put("linear_attn.in_proj_a.weight", {2, 2});
  file.put("linear_attn.out_proj.weight", {2, 10});
  return file;
}

// Two tokens, one key head of 3, two value heads of 5.
File trace_file() {
  File file;
  file.metadata = {{"format", "gdn-trace-1"},
                   {"scale", "0.5"},
                   {"use_qk_l2norm", "true"},
                   {"l2norm_eps", "1e-6"},
                   {"state_layout", "KV"}};
  file.put("q", {1, 2, 1, 3});
  file.put("k", {1, 2, 1, 3});
  file.put("v", {1, 2, 2, 5});
  file.put("g", {1, 2, 2});
  file.put("beta", {1, 2, 2});
  file.put("initial_state", {1, 2, 3, 5});
  file.put("final_state", {1, 2, 3, 5});
  file.put("o", {1, 2, 2, 5});
  return file;
}

TEST(GeneratedWeights, FollowTheRuleWorkedOutByHand) {
  // The first outputs of splitmix64 seeded with 0 are e220a8397b1dcdaf and 6e789e6aa1b965f4: their
  // top 24 bits are 14819496 and 7239838, minus 2^23 6430888 and -1148770.
  std::vector<float> out(2);
  generate_weights({0, 0.5}, 0, out);
  EXPECT_EQ(out[0], 6430888 * 0x1p-24F);
  EXPECT_EQ(out[1], -1148770 * 0x1p-24F);
}

TEST(GeneratedWeights, TensorNumbersSeedAtDistancesOfTwoToTheFortieth) {
  std::vector<float> by_number(5);
  std::vector<float> by_base(5);
  generate_weights({7, 1}, 3, by_number);
  generate_weights({7 + (uint64_t{3} << 40), 1}, 0, by_base);
  EXPECT_EQ(by_number, by_base);
}

TEST(GeneratedWeights, ManyPiecesGiveTheNumbersOfOne) {
  std::vector<float> many((size_t{1} << 18) + 3);
  generate_weights({303, 0.03125}, 8, many);
  // Element i depends on i alone: the tail, made on another core, is that of a longer run.
  std::vector<float> longer(many.size() + 100'000);
  generate_weights({303, 0.03125}, 8, longer);
  EXPECT_TRUE(std::equal(many.begin(), many.end(), longer.begin()));
}

TEST(GeneratedWeights, AScaleThatRoundsIsRefused) {
  EXPECT_EQ(why_not_exact({0, 0.03125}), "");
  for (const double scale : {0.3, 0.0, -0.5, 0x1p-200, infinity, -infinity}) {
    EXPECT_THAT(why_not_exact({0, scale}), HasSubstr("expected a power of two"));
  }
}

TEST(Capture, ALayerHasItsShapeCallsAndTensors) {
  std::string why;
  const auto capture = read_capture(oracle("gdn_small_prefill_decode"), &why);
  ASSERT_TRUE(capture.has_value()) << why;
  const auto& layer = std::get<LayerCapture>(capture->content);
  EXPECT_EQ(layer.inputs.shape.num_v_heads, 8);
  EXPECT_EQ(layer.inputs.shape.head_k_dim, 32);
  EXPECT_EQ(layer.inputs.shape.l2norm_eps, 1e-6F);
  EXPECT_EQ(layer.inputs.calls.front(), 70);
  EXPECT_EQ(layer.inputs.calls.size(), 11U);
  ASSERT_EQ(layer.seen.size(), 80U);
  for (const auto& [tensor, numbers] : layer.seen[79]) {
    EXPECT_EQ(static_cast<int64_t>(numbers.size()), element_count(tensor, layer.inputs.shape));
  }
  EXPECT_EQ(layer.final_state.size(), 8U);
}

TEST(Capture, TheFullLayerShapeHasWeightsByRuleAndTwoHeadsOfState) {
  std::string why;
  const auto capture = read_capture(oracle("gdn_qwen35_27b_l0"), &why);
  ASSERT_TRUE(capture.has_value()) << why;
  const auto& layer = std::get<LayerCapture>(capture->content);
  EXPECT_EQ(layer.inputs.weights.qkv.rows, 10240);
  EXPECT_EQ(layer.inputs.weights.out.cols, 6144);
  ASSERT_EQ(layer.final_state.size(), 2U);
  EXPECT_EQ(layer.final_state[1].head, 47);
  // A row of the projection, summed in double, is what the source put out, but for rounding:
  // 5120 terms of at most 2^-5 |h| leave an error below 5120 * 2^-24 of the sum of magnitudes.
  const std::vector<float>& h = layer.inputs.h[4];
  for (const size_t row : {size_t{0}, size_t{10239}}) {
    double sum = 0;
    double magnitude = 0;
    for (size_t i = 0; i < h.size(); ++i) {
      const double term = double{layer.inputs.weights.qkv.f32[row * h.size() + i]} * h[i];
      sum += term;
      magnitude += std::abs(term);
    }
    const double error_max = 5120 * 0x1p-24 * magnitude;
    EXPECT_NEAR(layer.seen[4].at(Tensor::QKV)[row], sum, error_max);
  }
}

TEST(Capture, ConvIsQueryKeyAndValueInThisOrder) {
  const Read out = read(layer_file());
  ASSERT_TRUE(out.capture.has_value()) << out.why;
  const auto& layer = std::get<LayerCapture>(out.capture->content);
  EXPECT_EQ(layer.seen[1].at(Tensor::CONV),
            (std::vector<float>{103, 104, 105, 203, 204, 205, 310, 311, 312, 313, 314, 315, 316,
                                317, 318, 319}));
  EXPECT_EQ(layer.inputs.calls, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(layer.final_state[1].values.front(), 15.5F);
}

TEST(Capture, EachTensorOfALayerIsNeededInItsShape) {
  const File whole = layer_file();
  for (const auto& [name, entry] : whole.tensors) {
    File without = whole;
    without.tensors.erase(name);
    EXPECT_THAT(why_refused(without), HasSubstr("'" + name + "'"));
    File longer = whole;
    longer.put(name, {7, 7, 7});
    EXPECT_THAT(why_refused(longer), AllOf(HasSubstr("'" + name + "'"), HasSubstr("[7, 7, 7]")));
    File integers = whole;
    integers.tensors[name].type = "I32";
    EXPECT_THAT(why_refused(integers), HasSubstr("type I32"));
  }
}

TEST(Capture, MetadataOfALayerIsChecked) {
  const auto refused_with = [](const std::string& key, const std::string& value) {
    File file = layer_file();
    file.metadata[key] = value;
    return why_refused(file);
  };
  for (const char* key : {"format", "config", "calls", "tokens"}) {
    File file = layer_file();
    file.metadata.erase(key);
    EXPECT_THAT(why_refused(file), HasSubstr(key));
  }
  EXPECT_THAT(refused_with("format", "gdn-oracle-2"), HasSubstr("'gdn-oracle-2'"));
  EXPECT_THAT(refused_with("calls", "[2, 2]"), HasSubstr("sum to 4"));
  EXPECT_THAT(refused_with("calls", "[3, 0]"), HasSubstr("'calls' is 0"));
  EXPECT_THAT(refused_with("calls", "[-1, 4]"), HasSubstr("'calls' is -1"));
  EXPECT_THAT(refused_with("calls", R"({"a": 3})"), HasSubstr("calls"));
  EXPECT_THAT(refused_with("calls", "3"), HasSubstr("expected a JSON object or list"));
  EXPECT_THAT(refused_with("config", "[1"), HasSubstr("'config'"));
  EXPECT_THAT(refused_with("config", std::string(100'000, '[')), HasSubstr("'config'"));
  EXPECT_THAT(refused_with("config", "{}"), HasSubstr("hidden_size"));
}

TEST(Capture, AShapeThatItsNumbersDoNotShowIsRefusedBeforeItTakesMemory) {
  File file = layer_file();
  Json config = Json::parse(file.metadata["config"]);
  config["hidden_size"] = 1 << 20;
  file.metadata["config"] = config.dump();
  EXPECT_THAT(why_refused(file), HasSubstr("'h'"));
  config["hidden_size"] = (1 << 20) + 1;
  file.metadata["config"] = config.dump();
  EXPECT_THAT(why_refused(file), HasSubstr("hidden_size"));
}

TEST(Capture, WeightsByRuleStandInForThoseThatAreAbsent) {
  File file = layer_file();
  file.tensors.erase("linear_attn.in_proj_z.weight");
  file.metadata["generated_weights"] =
      R"({"base": 0, "scale": 0.5, "tensors": {"in_proj_z.weight": 0}})";
  const Read out = read(file);
  ASSERT_TRUE(out.capture.has_value()) << out.why;
  const auto& layer = std::get<LayerCapture>(out.capture->content);
  EXPECT_EQ(layer.inputs.weights.z.f32[1], -1148770 * 0x1p-24F);
  EXPECT_EQ(layer.inputs.weights.b.f32[1], 1.5F);
  file.metadata["generated_weights"] = R"({"base": 0, "scale": 0.3, "tensors": {}})";
  EXPECT_THAT(why_refused(file), HasSubstr("scale 0.3"));
  file.metadata["generated_weights"] = R"({"base": 0})";
  EXPECT_THAT(why_refused(file), HasSubstr("incomplete"));
}

TEST(Capture, ATraceCarriesItsDialect) {
  std::string why;
  const auto capture = read_capture(oracle("ggml_gdn_cpu"), &why);
  ASSERT_TRUE(capture.has_value()) << why;
  const auto& trace = std::get<TraceCapture>(capture->content);
  EXPECT_EQ(trace.dialect.name, "ggml");
  EXPECT_EQ(trace.dialect.state_layout, Dialect::StateLayout::vk);
  EXPECT_EQ(trace.dialect.head_map, Dialect::HeadMap::tiled);
  EXPECT_EQ(trace.dialect.scale_on, Dialect::ScaleOn::output);
  EXPECT_EQ(trace.dialect.qk_norm, Dialect::QkNorm::none);
  EXPECT_EQ(trace.tokens, 12);
  EXPECT_EQ(trace.v.size(), 12U * 6U * 32U);
}

TEST(Capture, StorageOfATraceIsThatOfItsTensors) {
  std::string why;
  const auto capture = read_capture(oracle("fla_recurrent_bf16"), &why);
  ASSERT_TRUE(capture.has_value()) << why;
  const auto& trace = std::get<TraceCapture>(capture->content);
  EXPECT_EQ(trace.dialect.input_storage, Format::bf16);
  EXPECT_EQ(trace.dialect.output_storage, Format::bf16);
  EXPECT_EQ(trace.dialect.state_storage, Format::f32);
  EXPECT_EQ(trace.dialect.qk_norm, Dialect::QkNorm::sum_eps);
}

TEST(Capture, EachTensorOfATraceIsNeededInItsShape) {
  const File whole = trace_file();
  ASSERT_TRUE(read(whole).capture.has_value()) << read(whole).why;
  for (const auto& [name, entry] : whole.tensors) {
    File without = whole;
    without.tensors.erase(name);
    EXPECT_THAT(why_refused(without), HasSubstr("'" + name + "'"));
    File longer = whole;
    longer.put(name, {1, 7, 7, 7});
    why_refused(longer);
  }
}

TEST(Capture, MetadataOfATraceIsChecked) {
  const auto refused_with = [](const std::string& key, const std::string& value) {
    File file = trace_file();
    file.metadata[key] = value;
    return why_refused(file);
  };
  EXPECT_THAT(refused_with("state_layout", "KK"), HasSubstr("expected KV or VK"));
  EXPECT_THAT(refused_with("head_map", "x"), HasSubstr("expected grouped or tiled"));
  EXPECT_THAT(refused_with("scale", "0.5x"), HasSubstr("'0.5x'"));
  EXPECT_THAT(refused_with("scale", "nan"), HasSubstr("expected a number"));
  EXPECT_THAT(refused_with("dialect", "nobody"), HasSubstr("expected one of deltaproof"));
  EXPECT_THAT(refused_with("snapshots", "0"), HasSubstr("expected a count"));
  EXPECT_THAT(refused_with("snapshots", "2, newest first"), HasSubstr("'snapshots'"));
  // With rows of V for columns of K the state is [5][3] a head.
  EXPECT_THAT(refused_with("state_layout", "VK"), HasSubstr("expected [1, 2, 5, 3]"));
}

TEST(Capture, AStateStoredByColumnsIsReadAsRows) {
  Shape shape;
  shape.num_v_heads = 1;
  shape.head_k_dim = 2;
  shape.head_v_dim = 3;
  // v-rows (1 2), (3 4), (5 6): S[k][v] is their transpose.
  const std::vector<float> stored = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(canonical_state(stored, shape, Dialect::StateLayout::vk),
            (std::vector<float>{1, 3, 5, 2, 4, 6}));
  EXPECT_EQ(canonical_state(stored, shape, Dialect::StateLayout::kv), stored);
}

TEST(Capture, AQuantisersCaptureHasBlocksAndDecodedWeights) {
  std::string why;
  const auto capture = read_capture(oracle("ggml_q4_0"), &why);
  ASSERT_TRUE(capture.has_value()) << why;
  const auto& q4 = std::get<Q4Capture>(capture->content);
  EXPECT_EQ(q4.rows, 16);
  EXPECT_EQ(q4.cols, 256);
  EXPECT_EQ(q4.blocks.size(), 16U * 8U * 18U);
  EXPECT_EQ(q4.decoded.size(), 4096U);
}

}  // namespace
}  // namespace gdn
