// The conventions that public GDN implementations disagree on, as data.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "reference/bound.h"

namespace gdn {

struct Dialect {
  enum class StateLayout : uint8_t { kv, vk };
  enum class HeadMap : uint8_t { grouped, tiled };  // i / (vh/kh), i % kh
  enum class QkNorm : uint8_t { sum_eps, max_norm, mean_eps, none };
  enum class ScaleOn : uint8_t { q, output, none };
  enum class GateInput : uint8_t { log_g, linear_alpha, raw_a, raw_a_exponentiated };
  enum class Decay : uint8_t { per_head, per_channel, second_scalar, g_then_gk };
  enum class DecayOrder : uint8_t { state_first, folded };
  enum class Softplus : uint8_t { log1p_thresholds, log_one_plus_exp };
  enum class Beta : uint8_t { f32, bf16 };
  enum class SequenceCoding : uint8_t { cumulative, lengths, start_and_lengths };
  enum class StateWrites : uint8_t { final_only, every_token, last_k_newest_first };
  enum class StartSlot : uint8_t { first, accepted_minus_one };
  enum class Padding : uint8_t {
    negative_skips,
    negative_zeroes,
    not_positive_zeroes,
    slot_zero_is_null,
    not_allowed
  };
  enum class Activation : uint8_t { f32, q8_0 };

  std::string name = "deltaproof";
  StateLayout state_layout = StateLayout::kv;
  HeadMap head_map = HeadMap::grouped;
  QkNorm qk_norm = QkNorm::sum_eps;
  ScaleOn scale_on = ScaleOn::q;
  std::optional<float> scale;  // none: 1/sqrt(kd)
  GateInput gate_input = GateInput::raw_a;
  Decay decay = Decay::per_head;
  DecayOrder decay_order = DecayOrder::state_first;
  Softplus softplus = Softplus::log1p_thresholds;
  Beta beta = Beta::f32;
  Format state_storage = Format::f32;
  Format input_storage = Format::f32;
  Format output_storage = Format::f32;
  SequenceCoding sequence_coding = SequenceCoding::cumulative;
  StateWrites state_writes = StateWrites::final_only;
  StartSlot start_slot = StartSlot::first;
  Padding padding = Padding::negative_skips;
  Activation activation = Activation::f32;

  friend bool operator==(const Dialect&, const Dialect&) = default;
};

// Presets: deltaproof, hf, fla, vllm, ggml, ascend, ascend_310p, flashinfer_decode,
// flashinfer_prefill.
std::optional<Dialect> dialect_named(std::string_view name);
std::span<const std::string_view> dialect_names();

// One dimension by name and value as text ("head_map", "tiled"): how cases, engine descriptions
// and the command line spell it. set returns what is wrong, or an empty string.
std::span<const std::string_view> dialect_dimensions();
std::string get_dimension(const Dialect& dialect, std::string_view dimension);
std::string set_dimension(Dialect& dialect, std::string_view dimension, std::string_view value);
// The values that a dimension can take, for messages and for triage's search.
std::span<const std::string_view> dimension_values(std::string_view dimension);

}  // namespace gdn
