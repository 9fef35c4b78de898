// What ggml, the Ascend operator and FlashInfer do.
#include <array>

#include "reference/presets.h"

namespace gdn {
namespace {

using enum Basis;

constexpr std::string_view ggml_step = "ggml, ggml_gated_delta_net on a CPU";
constexpr std::string_view ggml_graph = "llama.cpp, graph of qwen35";
constexpr std::array ggml_facts{
    PresetFact{"state_layout", "vk", read, ggml_step,
               "the state is stored transposed, the key index contiguous"},
    PresetFact{"head_map", "tiled", read, ggml_step,
               "v-head h reads k-head h % H_k; conversion reorders v-heads to suit"},
    PresetFact{"qk_norm", "max_norm", read, "ggml, ggml_l2_norm",
               "x / max(norm of x, eps), with eps that of the model's RMS norm"},
    PresetFact{"scale_on", "output", read, ggml_step, "the dot of state and q is scaled, not q"},
    PresetFact{"scale", "1/sqrt(kd)", read, ggml_step,
               "1/sqrt(S_v), and S_v equals S_k in this operator"},
    PresetFact{"gate_input", "raw_a_exponentiated", read, ggml_graph,
               "gate = softplus(alpha + dt) ssm_a, where conversion stored -exp(A_log) as ssm_a"},
    PresetFact{"decay", "per_head", read, ggml_step,
               "g has one number a head, or one a key channel in its place"},
    PresetFact{"decay_order", "state_first", read, ggml_step,
               "the state decays first; the CUDA form multiplies the read by alpha instead"},
    PresetFact{"softplus", "log_one_plus_exp", read, "ggml, softplus",
               "x above 20, else logf(1 + expf(x))"},
    PresetFact{"beta", "f32", read, ggml_graph, "all tensors of the operator are float32"},
    PresetFact{"state_storage", "f32", read, ggml_step, "all tensors are float32"},
    PresetFact{"input_storage", "f32", read, ggml_step, "all tensors are float32"},
    PresetFact{"output_storage", "f32", read, ggml_step, "all tensors are float32"},
    PresetFact{"sequence_coding", "cumulative", assumed, ggml_step,
               "no coding: sequences of one length are a dimension; the value has no counterpart"},
    PresetFact{"state_writes", "last_k_newest_first", read, ggml_step,
               "K snapshots follow the output, the most recent first"},
    PresetFact{"start_slot", "first", derived, ggml_step, "no slot indices"},
    PresetFact{"padding", "not_allowed", derived, ggml_step, "no slot indices"},
    PresetFact{"activation", "q8_0", read, "ggml, products with q4_0 rows",
               "activations are rounded to q8_0 blocks before 4-bit rows meet them"},
};

constexpr std::string_view ascend_step = "CANN and vllm-ascend, recurrent_gated_delta_rule";
constexpr std::string_view ascend_caller = "vllm-ascend, the operator's caller";
constexpr std::array ascend_facts{
    PresetFact{"state_layout", "vk", read, ascend_step, "the pool is (BlockNum, Nv, Dv, Dk)"},
    PresetFact{"head_map", "grouped", read, ascend_step, "k-head = v-head / (Nv / Nk)"},
    PresetFact{"qk_norm", "none", read, ascend_caller,
               "no norm inside: the caller gives normalised q and k, rounded to bfloat16"},
    PresetFact{"scale_on", "q", read, ascend_step, "q of the whole sequence is scaled at first"},
    PresetFact{"scale", "1/sqrt(kd)", read, ascend_caller,
               "the attribute is 1.0 unless given; the caller gives Dk^-0.5"},
    PresetFact{"gate_input", "log_g", read, ascend_step, "g and gk are logarithms"},
    PresetFact{"decay", "g_then_gk", read, ascend_step,
               "the state decays by exp(g), then by exp(gk) of its channel, each where given"},
    PresetFact{"decay_order", "state_first", read, ascend_step,
               "the state decays before k reads it"},
    PresetFact{"softplus", "log_one_plus_exp", read, ascend_caller,
               "the caller's: x above 20, else log(1 + exp x)"},
    PresetFact{"beta", "bf16", read, ascend_step, "beta is a bfloat16 tensor"},
    PresetFact{"state_storage", "bf16", read, ascend_step,
               "bfloat16 or float32; the declared type of the output state is bfloat16"},
    PresetFact{"input_storage", "bf16", read, ascend_step, "query, key and value are bfloat16"},
    PresetFact{"output_storage", "bf16", read, ascend_step, "cast to bfloat16, nearest even"},
    PresetFact{"sequence_coding", "start_and_lengths", read, ascend_caller,
               "actual_seq_lengths is [start, len_1 ... len_B]; CANN's pages have lengths alone"},
    PresetFact{"state_writes", "every_token", read, ascend_step,
               "the state after every token t goes to slot indices[t]"},
    PresetFact{"start_slot", "accepted_minus_one", read, ascend_step,
               "a sequence starts from indices[its first + accepted - 1]"},
    PresetFact{"padding", "not_allowed", read, ascend_step,
               "no padding slots; a negative index is not checked"},
    PresetFact{"activation", "f32", derived, ascend_step, "no projections in it"},
};

constexpr std::string_view ascend_310p_step = "recurrent_gated_delta_rule on the Ascend 310P";
constexpr std::array ascend_310p_facts{
    PresetFact{"state_layout", "vk", assumed, ascend_310p_step, "as on the other chips"},
    PresetFact{"head_map", "grouped", assumed, ascend_310p_step, "as on the other chips"},
    PresetFact{"qk_norm", "none", assumed, ascend_310p_step, "as on the other chips"},
    PresetFact{"scale_on", "q", assumed, ascend_310p_step, "as on the other chips"},
    PresetFact{"scale", "1/sqrt(kd)", assumed, ascend_310p_step, "as on the other chips"},
    PresetFact{"gate_input", "log_g", assumed, ascend_310p_step, "as on the other chips"},
    PresetFact{"decay", "g_then_gk", assumed, ascend_310p_step, "as on the other chips"},
    PresetFact{"decay_order", "state_first", assumed, ascend_310p_step, "as on the other chips"},
    PresetFact{"softplus", "log_one_plus_exp", assumed, ascend_310p_step, "as on the other chips"},
    PresetFact{"beta", "f32", assumed, ascend_310p_step,
               "a float16 tensor, taken as given: the rounding to bfloat16 has no counterpart"},
    PresetFact{"state_storage", "f16", read, ascend_310p_step, "the state pool is float16"},
    PresetFact{"input_storage", "f16", assumed, ascend_310p_step, "the chip has no bfloat16"},
    PresetFact{"output_storage", "f16", assumed, ascend_310p_step, "the chip has no bfloat16"},
    PresetFact{"sequence_coding", "lengths", read, ascend_310p_step,
               "actual_seq_lengths is (B,) lengths"},
    PresetFact{"state_writes", "every_token", assumed, ascend_310p_step, "as on the other chips"},
    PresetFact{"start_slot", "accepted_minus_one", assumed, ascend_310p_step,
               "as on the other chips"},
    PresetFact{"padding", "not_allowed", read, ascend_310p_step,
               "its wrapper raises a negative slot to slot 0, which is a slot like any other"},
    PresetFact{"activation", "f32", derived, ascend_310p_step, "no projections in it"},
};

constexpr std::string_view decode_step = "FlashInfer, gated_delta_rule_decode_pretranspose";
constexpr std::array decode_facts{
    PresetFact{"state_layout", "vk", read, decode_step,
               "the pool is [P, HV, V, K]; gated_delta_rule_decode has [K, V] and no pool"},
    PresetFact{"head_map", "grouped", read, decode_step, "v-head h reads k-head h // r"},
    PresetFact{"qk_norm", "sum_eps", read, decode_step,
               "x rsqrt(sum x^2 + 1e-6) in float32, on unless it is turned off"},
    PresetFact{"scale_on", "q", read, decode_step, "q is multiplied by the scale after the norm"},
    PresetFact{"scale", "1/sqrt(kd)", derived, decode_step, "K^-0.5 unless given"},
    PresetFact{"gate_input", "raw_a", read, decode_step, "raw a and b, with A_log and dt_bias"},
    PresetFact{"decay", "per_head", read, decode_step, "one gate a head"},
    PresetFact{"decay_order", "state_first", read, decode_step,
               "the state decays before k reads it"},
    PresetFact{"softplus", "log_one_plus_exp", read, decode_step,
               "log(1 + exp x) up to 20, x above; two sister files blend both and give NaN at 89"},
    PresetFact{"beta", "f32", read, decode_step, "sigmoid(b) in float32, not rounded"},
    PresetFact{"state_storage", "f32", read, decode_step,
               "float32 for one token; a bfloat16 state is served too"},
    PresetFact{"input_storage", "bf16", assumed, decode_step, "q, k and v of the model's type"},
    PresetFact{"output_storage", "bf16", assumed, decode_step,
               "of the model's type; read of the path with a bfloat16 state alone"},
    PresetFact{"sequence_coding", "cumulative", assumed, decode_step,
               "no coding: one token a sequence; the value has no counterpart"},
    PresetFact{"state_writes", "final_only", derived, decode_step,
               "one token a sequence, so one state; it may go to another slot than it came from"},
    PresetFact{"start_slot", "first", derived, decode_step, "one initial index a sequence"},
    PresetFact{"padding", "negative_zeroes", read, decode_step,
               "-1 skips the state and writes 0; a small batch redirects the write to slot 0"},
    PresetFact{"activation", "f32", derived, decode_step, "no projections in it"},
};

constexpr std::string_view prefill_step = "FlashInfer, chunk_gated_delta_rule";
constexpr std::array prefill_facts{
    PresetFact{"state_layout", "vk", read, prefill_step, "the state is [N, max(Hq, Hv), V, K]"},
    PresetFact{"head_map", "grouped", read, prefill_step, "v-head h reads k-head h // r"},
    PresetFact{"qk_norm", "none", read, prefill_step,
               "use_qk_l2norm_in_kernel is accepted and not used: the caller normalises"},
    PresetFact{"scale_on", "q", assumed, prefill_step,
               "q scaled; either place gives equal numbers"},
    PresetFact{"scale", "1/sqrt(kd)", read, prefill_step, "no scale, or 0, means 1/sqrt(D)"},
    PresetFact{"gate_input", "linear_alpha", read, prefill_step,
               "g is alpha = exp(log g) already, ones where left out"},
    PresetFact{"decay", "per_head", read, prefill_step, "one g a head"},
    PresetFact{"decay_order", "state_first", read, prefill_step,
               "the state decays before k reads it"},
    PresetFact{"softplus", "log_one_plus_exp", derived, "vLLM, caller of chunk_gated_delta_rule",
               "the caller's gate, exponentiated"},
    PresetFact{"beta", "f32", read, prefill_step, "beta is a float32 tensor"},
    PresetFact{"state_storage", "f32", assumed, prefill_step, "the state is float32"},
    PresetFact{"input_storage", "bf16", assumed, prefill_step, "q, k and v of the model's type"},
    PresetFact{"output_storage", "bf16", assumed, prefill_step, "of the model's type"},
    PresetFact{"sequence_coding", "cumulative", read, prefill_step, "cu_seqlens is mandatory"},
    PresetFact{"state_writes", "final_only", derived, prefill_step, "one state a sequence"},
    PresetFact{"start_slot", "first", derived, prefill_step, "one index a sequence"},
    PresetFact{"padding", "not_allowed", derived, prefill_step, "state_indices must be unique"},
    PresetFact{"activation", "f32", derived, prefill_step, "no projections in it"},
};

constexpr std::array runtime_families{
    Preset{"ggml", "ggml's operator on a CPU in llama.cpp's graph of qwen35", ggml_facts},
    Preset{"ascend", "the Ascend operator as vllm-ascend calls it", ascend_facts},
    Preset{"ascend_310p", "the Ascend operator on the 310P", ascend_310p_facts},
    Preset{"flashinfer_decode",
           "FlashInfer, gated_delta_rule_decode_pretranspose with a float32 pool", decode_facts},
    Preset{"flashinfer_prefill", "FlashInfer, chunk_gated_delta_rule", prefill_facts},
};

}  // namespace

std::span<const Preset> runtime_presets() { return runtime_families; }

}  // namespace gdn
