// Reads what an engine says of itself.
#include "invariants/harness/description.h"

#include <algorithm>

#include "invariants/harness/calls.h"
#include "invariants/harness/json_fields.h"
#include "invariants/harness/safetensors.h"

namespace gdn {
namespace {

using nlohmann::json;
using Names = std::set<std::string_view>;

// A promise is at most this long; the longest possible one is below 8 KiB.
constexpr size_t json_bytes_max = size_t{1} << 20;
// Beyond this a count of ulp or additions says nothing: gamma is infinite at 2^24.
constexpr double count_max = 0x1p24;

constexpr std::array<std::string_view, 3> reduction_kinds = {"any", "depth", "order"};
constexpr std::array<std::string_view, 5> stage_kinds = {"stride", "block", "serial",
                                                         "tree_adjacent", "tree_halves"};
constexpr std::array<std::string_view, 4> sigmoid_forms = {"any", "divide", "reciprocal",
                                                           "exp_of_negative"};
constexpr std::array<std::string_view, 4> norm_forms = {"any", "rsqrt", "divide_by_sqrt",
                                                        "times_reciprocal_sqrt"};
constexpr std::array<std::string_view, 3> mean_forms = {"any", "divide",
                                                        "times_rounded_reciprocal"};
constexpr std::array<std::string_view, 3> q_scale_forms = {"any", "rounded_constant",
                                                           "reciprocal_of_sqrt"};
constexpr std::array<std::string_view, 3> softplus_forms = {"any", "log1p_thresholds",
                                                            "log_one_plus_exp"};
constexpr std::array<std::string_view, 3> decay_forms = {"any", "first", "folded"};
constexpr std::array<std::string_view, 2> recurrences = {"token_loop", "chunked_row_inverse"};

int64_t whole(JsonFields& fields, const char* key, int64_t low, int64_t high, int64_t usual) {
  double value = static_cast<double>(usual);
  fields.number(key, static_cast<double>(low), static_cast<double>(high), value);
  const int64_t rounded = static_cast<int64_t>(value);
  if (static_cast<double>(rounded) != value) fields.fail(key, "a whole number");
  return rounded;
}

Reduction::Stage read_stage(const json& value, const std::string& path, bool first,
                            std::string* why) {
  using Kind = Reduction::Stage::Kind;
  Reduction::Stage stage;
  JsonFields fields(value, path, why);
  if (!fields.take("kind")) fields.fail("kind", "a kind of stage, found none");
  fields.choice("kind", stage_kinds, stage.kind);
  stage.size = whole(fields, "size", 0, int64_t{1} << 30, 0);
  fields.boolean("fused", stage.fused);
  fields.finish();
  const bool sized = stage.kind == Kind::stride || stage.kind == Kind::block;
  if (sized && stage.size < 1) fields.fail("size", "1 or more for stride and block");
  if (!sized && stage.size != 0) fields.fail("size", "none: it belongs to stride and block");
  if (stage.fused && !first) fields.fail("fused", "false: only the first stage multiplies");
  return stage;
}

// Whether it is there.
bool read_reduction(JsonFields& contract, const char* key, Reduction& reduction, std::string* why) {
  const json* value = contract.take(key);
  if (!value) return false;
  const std::string path = contract.path_of(key);
  JsonFields fields(*value, path, why);
  if (!fields.take("kind")) fields.fail("kind", "any, depth or order, found none");
  fields.choice("kind", reduction_kinds, reduction.kind);
  if (reduction.kind == Reduction::Kind::depth) {
    fields.number("depth_a", 0, count_max, reduction.depth_a);
    fields.number("depth_b", 0, count_max, reduction.depth_b);
    fields.number("depth_c", 1, count_max, reduction.depth_c);
    fields.number("depth_d", 0, count_max, reduction.depth_d);
  }
  if (reduction.kind == Reduction::Kind::order) {
    const json* stages = fields.take("stages");
    if (!stages || !stages->is_array() || stages->empty() || stages->size() > 16) {
      fields.fail("stages", "a list of 1 to 16 stages");
    } else {
      for (const json& stage : *stages) {
        const size_t index = reduction.stages.size();
        const std::string place = path + ".stages[" + std::to_string(index) + "]";
        reduction.stages.push_back(read_stage(stage, place, index == 0, why));
      }
    }
  }
  fields.finish();
  return true;
}

void read_functions(const json& value, FunctionErrors& functions, std::string* why) {
  JsonFields fields(value, "contract.functions", why);
  fields.number("exp_ulp", 0, count_max, functions.exp_ulp);
  fields.number("exp_ulp_per_x", 0, count_max, functions.exp_ulp_per_x);
  fields.number("log1p_ulp", 0, count_max, functions.log1p_ulp);
  fields.number("rsqrt_ulp", 0, count_max, functions.rsqrt_ulp);
  fields.number("sigmoid_ulp", 0, count_max, functions.sigmoid_ulp);
  fields.number("division_ulp", 0, count_max, functions.division_ulp);
  fields.number("sqrt_ulp", 0, count_max, functions.sqrt_ulp);
  fields.finish();
}

void read_q4_projection(JsonFields& fields, Contract& contract, std::string* why) {
  Reduction reduction;
  if (read_reduction(fields, "q4_projection", reduction, why)) contract.q4_projection = reduction;
  const int bits = contract.activation_bits;
  contract.q4_activation_bits = static_cast<int>(whole(fields, "q4_activation_bits", 0, 32, bits));
}

void read_contract(const json& value, Contract& contract, std::string* why) {
  JsonFields fields(value, "contract", why);
  fields.text("name", contract.name);
  read_reduction(fields, "in_proj", contract.in_proj, why);
  read_reduction(fields, "conv", contract.conv, why);
  read_reduction(fields, "qk_norm", contract.qk_norm, why);
  read_reduction(fields, "delta_u", contract.delta_u, why);
  read_reduction(fields, "delta_o", contract.delta_o, why);
  read_reduction(fields, "gated_norm", contract.gated_norm, why);
  read_reduction(fields, "out_proj", contract.out_proj, why);
  fields.boolean("fused_possible", contract.fused_possible);
  if (const json* functions = fields.take("functions")) {
    read_functions(*functions, contract.functions, why);
  }
  fields.choice("silu", sigmoid_forms, contract.silu);
  fields.choice("sigmoid", sigmoid_forms, contract.sigmoid);
  fields.choice("qk_norm_form", norm_forms, contract.qk_norm_form);
  fields.choice("gated_norm_form", norm_forms, contract.gated_norm_form);
  fields.choice("mean", mean_forms, contract.mean);
  fields.choice("q_scale", q_scale_forms, contract.q_scale);
  fields.choice("softplus", softplus_forms, contract.softplus);
  contract.gate_sum_form_below = -infinity;
  const json* below = fields.take("gate_sum_form_below");
  if (below && !below->is_null() && *below != "-inf") {
    fields.number("gate_sum_form_below", -1e30, 1e30, contract.gate_sum_form_below);
  }
  fields.choice("decay", decay_forms, contract.decay);
  fields.boolean("flushes_subnormals", contract.flushes_subnormals);
  contract.activation_bits = static_cast<int>(whole(fields, "activation_bits", 0, 32, 0));
  read_q4_projection(fields, contract, why);
  fields.choice("recurrence", recurrences, contract.recurrence);
  contract.chunk_tokens = whole(fields, "chunk_tokens", 1, int64_t{1} << 20, 64);
  fields.finish();
}

void read_dialect(const json& value, Dialect& dialect, std::string* why) {
  JsonFields fields(value, "dialect", why);
  fields.text("name", dialect.name);
  for (const std::string_view dimension : dialect_dimensions()) {
    const std::string key(dimension);
    const json* given = fields.take(key.c_str());
    if (!given || dimension == "scale") continue;
    const std::string wrong =
        given->is_string() ? set_dimension(dialect, dimension, given->get<std::string>()) : "text";
    if (!wrong.empty()) fields.fail(key, wrong);
  }
  double scale = 0;
  if (fields.take("scale")) {
    fields.number("scale", -1e30, 1e30, scale);
    dialect.scale = static_cast<float>(scale);
  }
  fields.finish();
}

// Every entry of the table, by name.
struct Entry {
  std::string_view name;
  bool (*present)(const gdn_api&);
};
#define GDN_ENTRY(name) Entry{#name, [](const gdn_api& api) { return api.name != nullptr; }},
const Entry entries[] = {GDN_EACH_CALL(GDN_ENTRY)};
#undef GDN_ENTRY

void read_capabilities(const json& value, Description& description, std::string* why) {
  JsonFields fields(value, "capabilities", why);
  Names calls;
  for (const Entry& entry : entries) calls.insert(entry.name);
  fields.names("calls", calls, description.calls);
  Names operators;
  for (int i = 0; i < static_cast<int>(Operator::dequant); ++i) {
    operators.insert(name_of(static_cast<Operator>(i)));
  }
  fields.names("apply", operators, description.apply);
  fields.names("options", {"allocation_gate", "fill", "observe", "q8_activations", "snapshots"},
               description.options);
  fields.finish();
}

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace

std::optional<Description> parse_description(std::string_view text, std::string* why) {
  why->clear();
  if (text.size() > json_bytes_max) {
    *why = "description: longer than 2^20 bytes";
    return std::nullopt;
  }
  const json root = json::parse(text, nullptr, false);
  if (root.is_discarded()) {
    *why = "description: expected JSON, got " + shown(std::string(text.substr(0, 40)));
    return std::nullopt;
  }
  Description description;
  JsonFields fields(root, "", why);
  if (!root.is_object()) {
    *why = "description: expected an object, got " + shown(root);
    return std::nullopt;
  }
  fields.text("name", description.name);
  fields.text("version", description.version);
  if (!is_name(description.name)) fields.fail("name", "letters a to z, digits and _");
  for (const char* key : {"dialect", "capabilities", "contract"}) {
    if (!fields.take(key)) fields.fail(key, "an object, found none");
  }
  if (!why->empty()) return std::nullopt;
  read_dialect(root.at("dialect"), description.dialect, why);
  read_capabilities(root.at("capabilities"), description, why);
  read_contract(root.at("contract"), description.contract, why);
  fields.finish();
  if (!why->empty()) return std::nullopt;
  // They are printed, and an engine may have put anything into them.
  for (std::string* printed :
       {&description.version, &description.dialect.name, &description.contract.name}) {
    *printed = printable(*printed);
  }
  return description;
}

bool has_call(const gdn_api& api, std::string_view name) {
  for (const Entry& entry : entries) {
    if (entry.name == name) return entry.present(api);
  }
  return false;
}

std::string why_inconsistent(const Description& description, const gdn_api& api) {
  for (const std::string& name : description.calls) {
    if (!has_call(api, name)) {
      return "capabilities.calls: " + name + " is promised, but its entry is null";
    }
  }
  return "";
}

}  // namespace gdn
