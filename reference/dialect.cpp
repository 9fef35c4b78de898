// The dimensions of a dialect as text, and dialects made from the facts of the presets.
#include "reference/dialect.h"

#include <array>
#include <charconv>
#include <cmath>
#include <type_traits>
#include <vector>

#include "reference/presets.h"

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

// Every preset as its facts say; made once, since each case that is printed asks for one.
const std::vector<Dialect>& made_presets() {
  static const std::vector<Dialect> made = [] {
    std::vector<Dialect> all;
    for (const Preset& preset : presets()) {
      Dialect& dialect = all.emplace_back();
      dialect.name = preset.name;
      for (const PresetFact& fact : preset.facts) {
        set_dimension(dialect, fact.dimension, fact.value);
      }
    }
    return all;
  }();
  return made;
}

}  // namespace

std::optional<Dialect> dialect_named(std::string_view name) {
  for (const Dialect& preset : made_presets()) {
    if (preset.name == name) return preset;
  }
  return std::nullopt;
}

std::span<const std::string_view> dialect_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const Preset& preset : presets()) all.push_back(preset.name);
    return all;
  }();
  return names;
}

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
