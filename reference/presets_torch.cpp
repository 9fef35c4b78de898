// What this project defines, and what transformers, flash-linear-attention and vLLM do.
#include <array>

#include "reference/presets.h"

namespace gdn {
namespace {

using enum Basis;

constexpr std::string_view own_layer = "deltaproof";
constexpr std::array deltaproof_facts{
    PresetFact{"state_layout", "kv", own, own_layer, "S is [kd][vd] a v-head"},
    PresetFact{"head_map", "grouped", own, own_layer, "v-head i reads k-head i / (vh/kh)"},
    PresetFact{"qk_norm", "sum_eps", own, own_layer, "x / sqrt(sum x^2 + eps)"},
    PresetFact{"scale_on", "q", own, own_layer, "q is scaled after its norm"},
    PresetFact{"scale", "1/sqrt(kd)", own, own_layer, "the scale is 1/sqrt(kd)"},
    PresetFact{"gate_input", "raw_a", own, own_layer, "g is made of a, A_log and dt_bias"},
    PresetFact{"decay", "per_head", own, own_layer, "one decay a v-head"},
    PresetFact{"decay_order", "state_first", own, own_layer, "S decays before it is read"},
    PresetFact{"softplus", "log1p_thresholds", own, own_layer,
               "log1p(exp x), x above 20, exp x below -20"},
    PresetFact{"beta", "f32", own, own_layer, "sigmoid(b) stays float32"},
    PresetFact{"state_storage", "f32", own, own_layer, "everything is float32"},
    PresetFact{"input_storage", "f32", own, own_layer, "everything is float32"},
    PresetFact{"output_storage", "f32", own, own_layer, "everything is float32"},
    PresetFact{"sequence_coding", "cumulative", own, own_layer, "offsets of the sequences"},
    PresetFact{"state_writes", "final_only", own, own_layer, "one state a sequence"},
    PresetFact{"start_slot", "first", own, own_layer, "a sequence starts from its first slot"},
    PresetFact{"padding", "negative_skips", own, own_layer, "a negative slot is left alone"},
    PresetFact{"activation", "f32", own, own_layer, "projections take float32 activations"},
};

constexpr std::string_view hf_step = "transformers, torch_recurrent_gated_delta_rule";
constexpr std::string_view hf_layer = "transformers, Qwen3NextGatedDeltaNet";
constexpr std::array hf_facts{
    PresetFact{"state_layout", "kv", read, hf_step, "the state is [B, H, K, V]"},
    PresetFact{"head_map", "grouped", read, hf_layer,
               "q and k are repeated by repeat_interleave: v-head h reads k-head h // r"},
    PresetFact{"qk_norm", "sum_eps", read, hf_step,
               "x rsqrt(sum x^2 + 1e-6), in the type of the input: with bfloat16 its rounding too"},
    PresetFact{"scale_on", "q", read, hf_step, "q is multiplied by the scale after the norm"},
    PresetFact{"scale", "1/sqrt(kd)", read, hf_step, "the scale is 1/sqrt(dk)"},
    PresetFact{"gate_input", "raw_a", read, hf_layer,
               "g = -exp(A_log) softplus(a + dt_bias), in float32"},
    PresetFact{"decay", "per_head", read, hf_step, "g has one number a head"},
    PresetFact{"decay_order", "state_first", read, hf_step,
               "the state decays, then k reads it for the error"},
    PresetFact{"softplus", "log1p_thresholds", read, hf_layer,
               "torch's softplus: x above 20, else log1p(exp x)"},
    PresetFact{"beta", "bf16", read, hf_layer,
               "sigmoid(b) in the model's type, taken to be bfloat16"},
    PresetFact{"state_storage", "f32", read, hf_layer, "the cache of states is a float32 buffer"},
    PresetFact{"input_storage", "bf16", read, hf_layer, "q, k and v are of the model's type"},
    PresetFact{"output_storage", "bf16", read, hf_step,
               "the output is cast back to the type that the query had"},
    PresetFact{"sequence_coding", "cumulative", assumed, hf_layer,
               "no coding: a batch of padded rows; the value has no counterpart there"},
    PresetFact{"state_writes", "final_only", read, hf_step,
               "one final state, and only where it is asked for"},
    PresetFact{"start_slot", "first", derived, hf_layer, "a cache a sequence, no slots"},
    PresetFact{"padding", "not_allowed", derived, hf_layer,
               "no slots; inputs of padded tokens are zeroed before the projections"},
    PresetFact{"activation", "f32", derived, hf_layer,
               "activations are not quantised; those of the model's type are rounded to it"},
};

constexpr std::string_view fla_step = "flash-linear-attention, fused_recurrent_gated_delta_rule";
constexpr std::array fla_facts{
    PresetFact{"state_layout", "kv", read, fla_step,
               "the state is [N, HV, K, V]; an option, state_v_first, turns it"},
    PresetFact{"head_map", "grouped", read, fla_step, "v-head i reads k-head i // (HV // H)"},
    PresetFact{"qk_norm", "sum_eps", read, fla_step,
               "x / sqrt(sum x^2 + 1e-6) in float32 inside the kernel, where it is asked for"},
    PresetFact{"scale_on", "q", read, fla_step, "q is multiplied by the scale after the norm"},
    PresetFact{"scale", "1/sqrt(kd)", read, fla_step, "the default is K^-0.5"},
    PresetFact{"gate_input", "log_g", read, fla_step,
               "g and gk are logarithms; use_gate_in_kernel takes a raw gate"},
    PresetFact{"decay", "g_then_gk", read, fla_step,
               "the state decays by exp(g), then by exp(gk) of its channel, each where given"},
    PresetFact{"decay_order", "state_first", read, fla_step, "the state decays before k reads it"},
    PresetFact{"softplus", "log_one_plus_exp", read, fla_step,
               "of the gate in the kernel: x above 20, else lg2(1 + ex2) with flushed subnormals"},
    PresetFact{"beta", "f32", read, fla_step, "beta is loaded as given, or made in float32"},
    PresetFact{"state_storage", "f32", read, fla_step,
               "registers hold float32 over all tokens, and so does the final state"},
    PresetFact{"input_storage", "f32", assumed, fla_step,
               "tensors keep the type that they came in; float32 is the caller's choice here"},
    PresetFact{"output_storage", "f32", assumed, fla_step,
               "o has the type that was allocated for it; float32 is the caller's choice here"},
    PresetFact{"sequence_coding", "cumulative", read, fla_step,
               "cu_seqlens holds N + 1 offsets and needs a batch of one"},
    PresetFact{"state_writes", "final_only", read, fla_step, "one final state a sequence"},
    PresetFact{"start_slot", "first", derived, fla_step, "no slot indices"},
    PresetFact{"padding", "not_allowed", derived, fla_step, "no slot indices"},
    PresetFact{"activation", "f32", derived, fla_step, "no projections in it"},
};

constexpr std::string_view vllm_step = "vLLM, fused_recurrent_gated_delta_rule";
constexpr std::string_view vllm_gates = "vLLM, fused_gdn_gating";
constexpr std::array vllm_facts{
    PresetFact{"state_layout", "vk", read, vllm_step,
               "the pool is [slots, HV, V, K] by now; it was [K, V] in older versions"},
    PresetFact{"head_map", "grouped", read, vllm_step, "v-head i reads k-head i // (HV // H)"},
    PresetFact{"qk_norm", "sum_eps", read, vllm_step,
               "x / sqrt(sum x^2 + 1e-6) in float32 inside the kernel"},
    PresetFact{"scale_on", "q", read, vllm_step, "q is multiplied by the scale after the norm"},
    PresetFact{"scale", "1/sqrt(kd)", derived, vllm_step,
               "the caller's, above 0; the model gives K^-0.5"},
    PresetFact{"gate_input", "log_g", read, vllm_step, "g is a logarithm, of fused_gdn_gating"},
    PresetFact{"decay", "per_head", read, vllm_step,
               "one g a head; another mode (IS_KDA) has one a key channel in its place"},
    PresetFact{"decay_order", "state_first", read, vllm_step, "the state decays before k reads it"},
    PresetFact{"softplus", "log_one_plus_exp", read, "vLLM, fused_sigmoid_gating_delta_rule_update",
               "log(1 + exp x) up to 20, x above; of fused_gdn_gating taken to be the same"},
    PresetFact{"beta", "bf16", read, vllm_gates, "beta is stored in the type of b"},
    PresetFact{"state_storage", "f32", told, "copies of the configuration of Qwen3.5-27B",
               "mamba_ssm_dtype is float32; rounded to the cache's type only on store"},
    PresetFact{"input_storage", "bf16", assumed, vllm_step, "q, k and v are of the model's type"},
    PresetFact{"output_storage", "bf16", assumed, vllm_step, "o is of the model's type"},
    PresetFact{"sequence_coding", "cumulative", read, vllm_step, "cu_seqlens holds offsets"},
    PresetFact{"state_writes", "every_token", read, vllm_step,
               "with inplace_final_state the state after token t goes to slot indices[n, t]"},
    PresetFact{"start_slot", "accepted_minus_one", read, vllm_step,
               "with drafts a sequence starts from indices[n, accepted - 1]"},
    PresetFact{"padding", "negative_skips", read, "vLLM, fused_sigmoid_gating_delta_rule_update",
               "a negative slot returns, o unwritten; packed decode writes 0, newest also at 0"},
    PresetFact{"activation", "f32", derived, vllm_step, "no projections in it"},
};

constexpr std::array torch_families{
    Preset{"deltaproof", "this project's layer", deltaproof_facts},
    Preset{"hf", "transformers' torch path with a bfloat16 model", hf_facts},
    Preset{"fla", "flash-linear-attention, fused_recurrent_gated_delta_rule", fla_facts},
    Preset{"vllm", "vLLM, fused_recurrent_gated_delta_rule with a state pool", vllm_facts},
};

}  // namespace

std::span<const Preset> torch_presets() { return torch_families; }

}  // namespace gdn
