// The dimensions of a dialect as text, and the presets: what each family of public implementations
// does, as read in its source in mid-2026. A preset names the entry point that it models.
#include "reference/dialect.h"

#include <array>
#include <charconv>
#include <cmath>
#include <type_traits>

namespace gdn {
namespace {

using Values = std::span<const std::string_view>;

// In the order of the enumerations.
constexpr std::array<std::string_view, 2> state_layouts{"kv", "vk"};
constexpr std::array<std::string_view, 2> head_maps{"grouped", "tiled"};
constexpr std::array<std::string_view, 4> qk_norms{"sum_eps", "max_norm", "mean_eps", "none"};
constexpr std::array<std::string_view, 3> scale_places{"q", "output", "none"};
constexpr std::array<std::string_view, 1> scale_words{"1/sqrt(kd)"};
constexpr std::array<std::string_view, 4> gate_inputs{"log_g", "linear_alpha", "raw_a",
                                                      "raw_a_exponentiated"};
constexpr std::array<std::string_view, 4> decays{"per_head", "per_channel", "second_scalar",
                                                 "g_then_gk"};
constexpr std::array<std::string_view, 2> decay_orders{"state_first", "folded"};
constexpr std::array<std::string_view, 2> softpluses{"log1p_thresholds", "log_one_plus_exp"};
constexpr std::array<std::string_view, 2> betas{"f32", "bf16"};
constexpr std::array<std::string_view, 3> formats{"f32", "bf16", "f16"};
constexpr std::array<std::string_view, 3> sequence_codings{"cumulative", "lengths",
                                                           "start_and_lengths"};
constexpr std::array<std::string_view, 3> state_writes{"final_only", "every_token",
                                                       "last_k_newest_first"};
constexpr std::array<std::string_view, 2> start_slots{"first", "accepted_minus_one"};
constexpr std::array<std::string_view, 5> paddings{
    "negative_skips", "negative_zeroes", "not_positive_zeroes", "slot_zero_is_null", "not_allowed"};
constexpr std::array<std::string_view, 2> activations{"f32", "q8_0"};

struct Dimension {
  std::string_view name;
  Values values;
  // An index into `values`; null for scale, which is a word or a number.
  size_t (*get)(const Dialect&);
  void (*set)(Dialect&, size_t);
};

template <auto member>
constexpr Dimension dimension(std::string_view name, Values values) {
  return {name, values, [](const Dialect& d) { return static_cast<size_t>(d.*member); },
          [](Dialect& d, size_t index) {
            d.*member = static_cast<std::remove_reference_t<decltype(d.*member)>>(index);
          }};
}

constexpr std::string_view scale_name = "scale";

constexpr std::array dimensions{
    dimension<&Dialect::state_layout>("state_layout", state_layouts),
    dimension<&Dialect::head_map>("head_map", head_maps),
    dimension<&Dialect::qk_norm>("qk_norm", qk_norms),
    dimension<&Dialect::scale_on>("scale_on", scale_places),
    Dimension{scale_name, scale_words, nullptr, nullptr},
    dimension<&Dialect::gate_input>("gate_input", gate_inputs),
    dimension<&Dialect::decay>("decay", decays),
    dimension<&Dialect::decay_order>("decay_order", decay_orders),
    dimension<&Dialect::softplus>("softplus", softpluses),
    dimension<&Dialect::beta>("beta", betas),
    dimension<&Dialect::state_storage>("state_storage", formats),
    dimension<&Dialect::input_storage>("input_storage", formats),
    dimension<&Dialect::output_storage>("output_storage", formats),
    dimension<&Dialect::sequence_coding>("sequence_coding", sequence_codings),
    dimension<&Dialect::state_writes>("state_writes", state_writes),
    dimension<&Dialect::start_slot>("start_slot", start_slots),
    dimension<&Dialect::padding>("padding", paddings),
    dimension<&Dialect::activation>("activation", activations),
};

constexpr auto dimension_names = [] {
  std::array<std::string_view, dimensions.size()> names{};
  for (size_t i = 0; i < names.size(); ++i) names[i] = dimensions[i].name;
  return names;
}();

const Dimension* find_dimension(std::string_view name) {
  for (const Dimension& candidate : dimensions) {
    if (candidate.name == name) return &candidate;
  }
  return nullptr;
}

std::string comma_separated(Values words) {
  std::string text;
  for (std::string_view word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

std::string scale_text(const Dialect& dialect) {
  if (!dialect.scale) return std::string(scale_words[0]);
  char digits[32];  // the shortest text that reads back as the same float
  const auto end = std::to_chars(digits, digits + sizeof digits, *dialect.scale).ptr;
  return std::string(digits, end);
}

std::string set_scale(Dialect& dialect, std::string_view value) {
  if (value == scale_words[0]) {
    dialect.scale.reset();
    return "";
  }
  float number = 0;
  const char* last = value.data() + value.size();
  const auto [end, error] = std::from_chars(value.data(), last, number);
  if (error != std::errc{} || end != last || !std::isfinite(number)) {
    return "scale: '" + std::string(value) + "' is not 1/sqrt(kd) or a finite number";
  }
  dialect.scale = number;
  return "";
}

// transformers' torch path with a bfloat16 model: l2norm adds eps to the sum, sigmoid(b) stays in
// the model's type, softplus is torch's with its threshold, the cache holds one [kd][vd] state.
Dialect hf() {
  Dialect d;
  d.name = "hf";
  d.state_layout = Dialect::StateLayout::kv;         // state [B,H,K,V]
  d.head_map = Dialect::HeadMap::grouped;            // repeat_interleave: v-head h uses h // r
  d.qk_norm = Dialect::QkNorm::sum_eps;              // x rsqrt(sum + 1e-6)
  d.scale_on = Dialect::ScaleOn::q;                  // multiplied into q after the norm
  d.gate_input = Dialect::GateInput::raw_a;          // -exp(A_log) softplus(a + dt_bias)
  d.softplus = Dialect::Softplus::log1p_thresholds;  // x > 20 ? x : log1p(exp x)
  d.beta = Dialect::Beta::bf16;                      // sigmoid(b) in the model's type
  d.state_storage = Format::f32;                     // the cache is a float32 buffer
  d.input_storage = Format::bf16;                    // q, k, v in the model's type
  d.output_storage = Format::bf16;                   // cast back to the query's type
  d.padding = Dialect::Padding::not_allowed;         // a cache per sequence, no slots
  return d;
}

// flash-linear-attention's fused_recurrent_gated_delta_rule; tensors keep their own type.
Dialect fla() {
  Dialect d;
  d.name = "fla";
  d.state_layout = Dialect::StateLayout::kv;         // [N,HV,K,V]; state_v_first is an option
  d.head_map = Dialect::HeadMap::grouped;            // i_hv // (HV // H)
  d.qk_norm = Dialect::QkNorm::sum_eps;              // x / sqrt(sum + 1e-6), in the kernel
  d.scale_on = Dialect::ScaleOn::q;                  // q scale, K^-0.5 by default
  d.gate_input = Dialect::GateInput::log_g;          // g and gk are logarithms
  d.decay = Dialect::Decay::g_then_gk;               // h exp(g), then exp(gk), where given
  d.softplus = Dialect::Softplus::log_one_plus_exp;  // in-kernel gate: lg2(1 + ex2(x))
  d.beta = Dialect::Beta::f32;                       // loaded or computed in float32
  d.sequence_coding = Dialect::SequenceCoding::cumulative;  // cu_seqlens, N + 1
  d.state_writes = Dialect::StateWrites::final_only;        // one final state a sequence
  d.padding = Dialect::Padding::not_allowed;                // no slot indices
  return d;
}

// vLLM's fused_recurrent_gated_delta_rule with a state pool, as upstream lays it out by now.
Dialect vllm() {
  Dialect d;
  d.name = "vllm";
  d.state_layout = Dialect::StateLayout::vk;         // [slots,HV,V,K]; [K,V] in older versions
  d.head_map = Dialect::HeadMap::grouped;            // i_hv // (HV // H)
  d.qk_norm = Dialect::QkNorm::sum_eps;              // x / sqrt(sum + 1e-6), in the kernel
  d.scale_on = Dialect::ScaleOn::q;                  // q scale after the norm
  d.gate_input = Dialect::GateInput::log_g;          // g of fused_gdn_gating, float32
  d.softplus = Dialect::Softplus::log_one_plus_exp;  // x <= 20 ? log(1 + exp x) : x
  d.beta = Dialect::Beta::bf16;                      // fused_gdn_gating stores b's type
  d.state_storage = Format::f32;                     // mamba_ssm_dtype of the model's config
  d.input_storage = Format::bf16;                    // the model's type
  d.output_storage = Format::bf16;                   // the model's type
  d.sequence_coding = Dialect::SequenceCoding::cumulative;  // cu_seqlens
  d.state_writes = Dialect::StateWrites::every_token;       // inplace_final_state
  d.start_slot = Dialect::StartSlot::accepted_minus_one;    // indices[n, accepted - 1]
  d.padding = Dialect::Padding::negative_skips;             // idx < 0 returns, out unwritten
  return d;
}

// ggml_gated_delta_net on the CPU, in llama.cpp's graph (qwen35).
Dialect ggml() {
  Dialect d;
  d.name = "ggml";
  d.state_layout = Dialect::StateLayout::vk;               // M[j][i] = S[i][j], K contiguous
  d.head_map = Dialect::HeadMap::tiled;                    // h % H_k; conversion reorders V heads
  d.qk_norm = Dialect::QkNorm::max_norm;                   // ggml_l2_norm: 1 / max(norm, eps)
  d.scale_on = Dialect::ScaleOn::output;                   // out = dot(M, q) scale
  d.gate_input = Dialect::GateInput::raw_a_exponentiated;  // ssm_a = -exp(A_log) at conversion
  d.decay_order = Dialect::DecayOrder::state_first;        // CPU; the CUDA kernel folds alpha in
  d.softplus = Dialect::Softplus::log_one_plus_exp;        // x > 20 ? x : logf(1 + expf(x))
  d.beta = Dialect::Beta::f32;                             // all tensors of the graph are F32
  d.state_writes = Dialect::StateWrites::last_k_newest_first;  // K snapshots, newest first
  d.padding = Dialect::Padding::not_allowed;                   // no slot indices
  d.activation = Dialect::Activation::q8_0;                    // 4-bit rows meet q8_0 activations
  return d;
}

// The Ascend recurrent_gated_delta_rule operator as vllm-ascend calls it, with normalised q and k.
Dialect ascend() {
  Dialect d;
  d.name = "ascend";
  d.state_layout = Dialect::StateLayout::vk;         // (BlockNum,Nv,Dv,Dk)
  d.head_map = Dialect::HeadMap::grouped;            // head / (Nv / Nk)
  d.qk_norm = Dialect::QkNorm::none;                 // the caller's work
  d.scale_on = Dialect::ScaleOn::q;                  // q scale; the caller gives Dk^-0.5, not 1
  d.gate_input = Dialect::GateInput::log_g;          // g and gk are logarithms
  d.decay = Dialect::Decay::g_then_gk;               // S alpha, then exp(gk) by channel
  d.softplus = Dialect::Softplus::log_one_plus_exp;  // of the caller, threshold 20
  d.beta = Dialect::Beta::bf16;                      // beta is a bf16 tensor
  d.state_storage = Format::bf16;                    // declared so; float32 is accepted as well
  d.input_storage = Format::bf16;                    // query, key, value bf16
  d.output_storage = Format::bf16;                   // cast to nearest even
  d.sequence_coding = Dialect::SequenceCoding::start_and_lengths;  // [start, len_1..len_B]
  d.state_writes = Dialect::StateWrites::every_token;              // slot indices[t] each token
  d.start_slot = Dialect::StartSlot::accepted_minus_one;           // indices[seq0 + accepted - 1]
  d.padding = Dialect::Padding::not_allowed;                       // negative slots unchecked
  return d;
}

// The same operator on the 310P, which has no bf16; its wrapper sends a negative slot to slot 0.
Dialect ascend_310p() {
  Dialect d = ascend();
  d.name = "ascend_310p";
  d.beta = Dialect::Beta::f32;                           // an f16 tensor, taken as given
  d.state_storage = Format::f16;                         // state pool in f16
  d.input_storage = Format::f16;                         // no bf16 on this chip
  d.output_storage = Format::f16;                        // no bf16 on this chip
  d.sequence_coding = Dialect::SequenceCoding::lengths;  // (B,) lengths
  return d;
}

// FlashInfer's gated_delta_rule_decode_pretranspose with a float32 pool. (Its sister
// gated_delta_rule_decode differs in state_layout, kv, and has no pool.)
Dialect flashinfer_decode() {
  Dialect d;
  d.name = "flashinfer_decode";
  d.state_layout = Dialect::StateLayout::vk;         // [P,HV,V,K]
  d.head_map = Dialect::HeadMap::grouped;            // h // r
  d.qk_norm = Dialect::QkNorm::sum_eps;              // rsqrt(sum + 1e-6), on by default
  d.scale_on = Dialect::ScaleOn::q;                  // q scale after the norm
  d.gate_input = Dialect::GateInput::raw_a;          // raw a with A_log and dt_bias
  d.softplus = Dialect::Softplus::log_one_plus_exp;  // x <= 20 ? log(1 + exp x) : x
  d.beta = Dialect::Beta::f32;                       // sigmoid(b) in float32, unrounded
  d.state_storage = Format::f32;                     // or bf16, for more than one token
  d.input_storage = Format::bf16;                    // the model's type
  d.output_storage = Format::bf16;                   // the model's type
  d.padding = Dialect::Padding::negative_zeroes;     // -1 skips the state and writes 0
  return d;
}

// FlashInfer's chunk_gated_delta_rule, called with normalised q and k and with exp(g).
Dialect flashinfer_prefill() {
  Dialect d;
  d.name = "flashinfer_prefill";
  d.state_layout = Dialect::StateLayout::vk;                // [N,max(Hq,Hv),V,K]
  d.head_map = Dialect::HeadMap::grouped;                   // h // r
  d.qk_norm = Dialect::QkNorm::none;                        // use_qk_l2norm_in_kernel is not used
  d.scale_on = Dialect::ScaleOn::q;                         // none or 0 means 1/sqrt(D)
  d.gate_input = Dialect::GateInput::linear_alpha;          // g is alpha already
  d.softplus = Dialect::Softplus::log_one_plus_exp;         // of the caller
  d.beta = Dialect::Beta::f32;                              // beta is a float32 tensor
  d.state_storage = Format::f32;                            // the state is float32
  d.input_storage = Format::bf16;                           // the model's type
  d.output_storage = Format::bf16;                          // the model's type
  d.sequence_coding = Dialect::SequenceCoding::cumulative;  // cu_seqlens, mandatory
  d.state_writes = Dialect::StateWrites::final_only;        // one state a sequence
  d.padding = Dialect::Padding::not_allowed;                // state_indices are unique slots
  return d;
}

struct Preset {
  std::string_view name;
  Dialect (*make)();
};

constexpr std::array presets{
    Preset{"deltaproof", [] { return Dialect{}; }},
    Preset{"hf", hf},
    Preset{"fla", fla},
    Preset{"vllm", vllm},
    Preset{"ggml", ggml},
    Preset{"ascend", ascend},
    Preset{"ascend_310p", ascend_310p},
    Preset{"flashinfer_decode", flashinfer_decode},
    Preset{"flashinfer_prefill", flashinfer_prefill},
};

constexpr auto preset_names = [] {
  std::array<std::string_view, presets.size()> names{};
  for (size_t i = 0; i < names.size(); ++i) names[i] = presets[i].name;
  return names;
}();

}  // namespace

std::optional<Dialect> dialect_named(std::string_view name) {
  for (const Preset& preset : presets) {
    if (preset.name == name) return preset.make();
  }
  return std::nullopt;
}

std::span<const std::string_view> dialect_names() { return preset_names; }

std::span<const std::string_view> dialect_dimensions() { return dimension_names; }

std::string get_dimension(const Dialect& dialect, std::string_view dimension) {
  const Dimension* found = find_dimension(dimension);
  if (found == nullptr) return "";
  if (found->get == nullptr) return scale_text(dialect);
  return std::string(found->values[found->get(dialect)]);
}

std::string set_dimension(Dialect& dialect, std::string_view dimension, std::string_view value) {
  const Dimension* found = find_dimension(dimension);
  if (found == nullptr) {
    return "'" + std::string(dimension) + "' is no dimension of a dialect; the dimensions are " +
           comma_separated(dimension_names);
  }
  if (found->set == nullptr) return set_scale(dialect, value);
  for (size_t i = 0; i < found->values.size(); ++i) {
    if (found->values[i] != value) continue;
    found->set(dialect, i);
    return "";
  }
  return std::string(dimension) + ": '" + std::string(value) + "' is not one of " +
         comma_separated(found->values);
}

std::span<const std::string_view> dimension_values(std::string_view dimension) {
  const Dimension* found = find_dimension(dimension);
  return found == nullptr ? Values{} : found->values;
}

}  // namespace gdn
