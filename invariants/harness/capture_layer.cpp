// gdn-oracle-1: a layer's weights, its input, and every tensor that it passed on.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "invariants/harness/capture_readers.h"
#include "invariants/harness/generated_weights.h"

namespace gdn {
namespace {

const std::string prefix = "linear_attn.";

Shape read_shape(CaptureFields& fields) {
  const nlohmann::json config = fields.json("config");
  Shape shape;
  shape.hidden_size = fields.integer(config, "hidden_size");
  shape.num_k_heads = fields.integer(config, "linear_num_key_heads");
  shape.head_k_dim = fields.integer(config, "linear_key_head_dim");
  shape.num_v_heads = fields.integer(config, "linear_num_value_heads");
  shape.head_v_dim = fields.integer(config, "linear_value_head_dim");
  shape.conv_kernel = fields.integer(config, "linear_conv_kernel_dim");
  shape.rms_norm_eps = fields.positive(config, "rms_norm_eps");
  shape.l2norm_eps = fields.positive(config, "l2norm_eps");
  if (const std::string bad = why_invalid(shape); !fields.failed() && !bad.empty()) {
    fields.fail(fmt::format("metadata 'config': {}", bad));
  }
  if (!fields.failed() && shape.state_count() > derived_bytes_max / int64_t{sizeof(float)}) {
    fields.fail(fmt::format("metadata 'config' has a state of {} numbers, expected at most {}",
                            shape.state_count(), derived_bytes_max / int64_t{sizeof(float)}));
  }
  return shape;
}

std::vector<int64_t> read_calls(CaptureFields& fields, int64_t& tokens) {
  const std::string text = fields.text("tokens");
  const nlohmann::json list = fields.json("calls");
  std::vector<int64_t> calls;
  tokens = 0;
  for (size_t i = 0; !fields.failed() && i < list.size(); ++i) {
    nlohmann::json call;
    if (list.is_array()) call["calls"] = list[i];
    calls.push_back(fields.integer(call, "calls"));
    tokens += calls.back();
  }
  if (fields.failed()) return {};
  if (std::to_string(tokens) != text) {
    fields.fail(fmt::format("calls sum to {} tokens, expected 'tokens', which is '{}'", tokens,
                            printable(text)));
  }
  return calls;
}

// A [T, width] tensor as one row a token.
std::vector<std::vector<float>> rows(CaptureFields& fields, const std::string& name, int64_t tokens,
                                     int64_t width) {
  const std::vector<float> all = fields.floats(name, {tokens, width});
  std::vector<std::vector<float>> out;
  for (auto row = all.begin(); row != all.end(); row += width) out.emplace_back(row, row + width);
  return out;
}

std::vector<TokenTensors> read_seen(CaptureFields& fields, const Shape& shape, int64_t tokens) {
  struct Source {
    const char* name;
    Tensor tensor;
    int64_t width;
  };
  // CONV is q, k and v in this order.
  const Source sources[] = {
      {"proj_qkv", Tensor::QKV, shape.conv_dim()}, {"proj_z", Tensor::Z, shape.v_dim()},
      {"proj_b", Tensor::B, shape.num_v_heads},    {"proj_a", Tensor::A, shape.num_v_heads},
      {"q", Tensor::CONV, shape.k_dim()},          {"k", Tensor::CONV, shape.k_dim()},
      {"v", Tensor::CONV, shape.v_dim()},          {"g", Tensor::G, shape.num_v_heads},
      {"beta", Tensor::BETA, shape.num_v_heads},   {"core_o", Tensor::O, shape.v_dim()},
      {"normed", Tensor::ONORM, shape.v_dim()},    {"out", Tensor::OUT, shape.hidden_size}};
  std::vector<TokenTensors> seen;
  for (const Source& source : sources) {
    const auto tokens_of = rows(fields, source.name, tokens, source.width);
    if (fields.failed()) return {};
    seen.resize(tokens_of.size());
    for (size_t t = 0; t < seen.size(); ++t) {
      std::vector<float>& to = seen[t][source.tensor];
      to.insert(to.end(), tokens_of[t].begin(), tokens_of[t].end());
    }
  }
  return seen;
}

std::vector<CapturedHead> read_final_state(CaptureFields& fields, const Shape& shape) {
  const int64_t kd = shape.head_k_dim;
  const int64_t vd = shape.head_v_dim;
  if (!fields.has("final_state") && fields.has("final_state_head0")) {
    return {{0, fields.floats("final_state_head0", {kd, vd})},
            {shape.num_v_heads - 1, fields.floats("final_state_head_last", {kd, vd})}};
  }
  const std::vector<float> all = fields.floats("final_state", {shape.num_v_heads, kd, vd});
  std::vector<CapturedHead> heads;
  for (auto at = all.begin(); at != all.end(); at += kd * vd) {
    heads.push_back({static_cast<int64_t>(heads.size()), {at, at + kd * vd}});
  }
  return heads;
}

// Reads the large matrices from the file, or makes those that the rule names.
class Matrices {
 public:
  Matrices(CaptureFields& fields, LayerCapture& out) : fields_(fields), out_(out) {
    if (!fields.optional_text("generated_weights")) return;
    const nlohmann::json rule = fields.json("generated_weights");
    if (!rule.is_object() || !rule.contains("base") || !rule["base"].is_number_unsigned() ||
        !rule.contains("scale") || !rule["scale"].is_number() || !rule.contains("tensors")) {
      fields.fail("metadata 'generated_weights' is incomplete, expected base, scale and tensors");
      return;
    }
    rule_.base = rule["base"].get<uint64_t>();
    rule_.scale = rule["scale"].get<double>();
    numbers_ = rule["tensors"];
    if (const std::string bad = why_not_exact(rule_); !bad.empty()) {
      fields.fail("metadata 'generated_weights' has " + bad);
    }
  }

  Matrix read(const std::string& name, int64_t matrix_rows, int64_t cols) {
    if (fields_.failed()) return {};
    std::vector<float>& numbers = out_.matrices[name];
    const auto rule = numbers_.find(name);
    const bool by_rule = rule != numbers_.end() && rule->is_number_unsigned();
    if (fields_.has(prefix + name) || !by_rule) {
      numbers = fields_.floats(prefix + name, {matrix_rows, cols});
    } else {
      bytes_ += matrix_rows * cols * int64_t{sizeof(float)};
      if (bytes_ > derived_bytes_max) {
        fields_.fail(fmt::format("weights by rule take {} bytes or more, expected at most {}",
                                 bytes_, derived_bytes_max));
        return {};
      }
      numbers.resize(static_cast<size_t>(matrix_rows * cols));
      generate_weights(rule_, rule->get<uint64_t>(), numbers);
    }
    return {matrix_rows, cols, numbers.data(), nullptr};
  }

 private:
  CaptureFields& fields_;
  LayerCapture& out_;
  WeightRule rule_;
  nlohmann::json numbers_ = nlohmann::json::object();
  int64_t bytes_ = 0;
};

}  // namespace

LayerCapture read_layer_capture(CaptureFields& fields) {
  LayerCapture out;
  LayerInputs& in = out.inputs;
  in.shape = read_shape(fields);
  int64_t tokens = 0;
  in.calls = read_calls(fields, tokens);
  if (fields.failed()) return out;

  // The tensors come before the matrices: they show that the shape is that of real numbers.
  const Shape& shape = in.shape;
  in.h = rows(fields, "h", tokens, shape.hidden_size);
  out.seen = read_seen(fields, shape, tokens);
  out.final_state = read_final_state(fields, shape);
  LayerWeights& w = in.weights;
  w.conv = fields.floats(prefix + "conv1d.weight", {shape.conv_dim(), 1, shape.conv_kernel});
  w.A_log = fields.floats(prefix + "A_log", {shape.num_v_heads});
  w.dt_bias = fields.floats(prefix + "dt_bias", {shape.num_v_heads});
  w.norm = fields.floats(prefix + "norm.weight", {shape.head_v_dim});

  Matrices matrices(fields, out);
  w.qkv = matrices.read("in_proj_qkv.weight", shape.conv_dim(), shape.hidden_size);
  w.z = matrices.read("in_proj_z.weight", shape.v_dim(), shape.hidden_size);
  w.b = matrices.read("in_proj_b.weight", shape.num_v_heads, shape.hidden_size);
  w.a = matrices.read("in_proj_a.weight", shape.num_v_heads, shape.hidden_size);
  w.out = matrices.read("out_proj.weight", shape.hidden_size, shape.v_dim());
  return out;
}

}  // namespace gdn
