// Cases as values: what their calls take, which are valid, and which simpler ones lie near.
#include "reference/case.h"

#include <algorithm>
#include <array>
#include <bit>

namespace gdn {
namespace {

constexpr std::array<std::string_view, 10> subject_names = {
    "layer",      "in_proj",    "gates",    "conv",    "qk_norm",
    "delta_rule", "gated_norm", "out_proj", "dequant", "recurrent"};

constexpr std::array<std::string_view, call_kind_count> call_names = {
    "load_layer_f32", "unload_layer",  "pool_init",    "pool_put",    "pool_get",      "pool_clear",
    "bind_q4",        "step",          "run",          "forward",     "reset",         "read",
    "state_export",   "state_import",  "snapshot",     "rollback",    "apply",         "dequant",
    "recurrent",      "buffer_create", "buffer_write", "buffer_read", "buffer_release"};

// Pointers that a call can be given as null.
constexpr std::string_view omissible[] = {
    "h",   "out", "qkv",  "z",      "b", "a", "conv", "A_log", "dt_bias", "norm", "tiles", "dst",
    "src", "id",  // of calls on layers
    "x",   "y",   "hist", "weight", "q", "k", "v",    "g",     "gk",      "beta", "S",     "o"};

constexpr int64_t number_max = int64_t{1} << 62;

// In the order of Argument.
constexpr std::array<ArgumentRule, argument_count> rules = {{
    {Argument::layer, "layer", 0, -1000, number_max},
    {Argument::read_layer, "read_layer", -1, -1, 1'000'000},
    {Argument::weights, "weights", -1, -1, 1'000'000},
    {Argument::first_token, "first_token", -1, -1, elements_max},
    {Argument::tokens, "tokens", 1, -1000, elements_max},
    {Argument::matrix, "matrix", 0, 0, 2},
    {Argument::key, "key", -1, -1, number_max},
    {Argument::key_qkv, "key_qkv", -1, -1, number_max},
    {Argument::key_z, "key_z", -1, -1, number_max},
    {Argument::key_out, "key_out", -1, -1, number_max},
    {Argument::rows, "rows", -1, -1000, number_max},
    {Argument::cols, "cols", -1, -1000, number_max},
    {Argument::bytes, "bytes", -1, -1, number_max},
    {Argument::capacity, "capacity", -1, -2, elements_max},
    {Argument::tensor, "tensor", 13, -1000, 1000},
    {Argument::id, "id", 0, 0, 1'000'000},
    {Argument::buffer, "buffer", 0, 0, 1'000'000},
    {Argument::offset, "offset", 0, 0, number_max},
    {Argument::out_id, "out_id", -1, -1, 1'000'000},
    {Argument::h_id, "h_id", -1, -1, 1'000'000},
    {Argument::op, "op", -1, -1000, 1000},
    {Argument::count_off, "count_off", 0, -4, 4},
    {Argument::snapshots, "snapshots", -1, -1, 64},
    {Argument::start, "start", 0, 0, elements_max},
}};

std::string from_on(int64_t least) {
  return std::to_string(least) + " to " + std::to_string(elements_max);
}

std::string field(std::string_view name, int64_t value, std::string_view expected) {
  return std::string(name) + " is " + std::to_string(value) + ", expected " + std::string(expected);
}

bool streams(CallKind kind) {
  return kind == CallKind::step || kind == CallKind::run || kind == CallKind::forward ||
         kind == CallKind::recurrent;
}

// Weights and the stream that these take are numbers of a stack of layers.
bool needs_layers(CallKind kind) {
  return kind == CallKind::load_layer_f32 || kind == CallKind::pool_put ||
         (streams(kind) && kind != CallKind::recurrent);
}

int64_t tokens_of(const Call& call) {
  return call.kind == CallKind::step ? 1 : std::max<int64_t>(0, call.at(Argument::tokens));
}

// a b, or elements_max + 1 where that is more than elements_max.
int64_t product(int64_t a, int64_t b) {
  return a != 0 && b > elements_max / a ? elements_max + 1 : a * b;
}

// How many numbers a case needs, saturated just above elements_max.
int64_t numbers_needed(const Case& c) {
  const Shape& s = c.shape;
  const int64_t k_dim = product(s.num_k_heads, s.head_k_dim);
  const int64_t v_dim = product(s.num_v_heads, s.head_v_dim);
  const int64_t conv_dim = std::min(2 * k_dim + v_dim, elements_max + 1);
  const int64_t state = product(product(s.num_v_heads, s.head_k_dim), s.head_v_dim);
  const int64_t rows = conv_dim + 2 * v_dim + 2 * s.num_v_heads;
  const int64_t layer = product(std::min(rows, elements_max + 1), s.hidden_size) +
                        product(conv_dim, s.conv_kernel) + state;
  const int64_t token = std::max({s.hidden_size, conv_dim, product(s.num_v_heads, s.head_k_dim)});
  const int64_t pool = product(product(c.pool.slots, state + c.pool.gap), 1) + c.pool.offset;
  const int64_t matrix = product(c.rows, c.cols);
  const int64_t layers = c.subject == Subject::layer ? s.num_layers : 1;
  return product(std::min(layer, elements_max + 1), layers) + product(token, c.tokens) + pool +
         matrix;
}

std::string why_invalid_matrix(const Case& c) {
  const bool has_matrix = c.subject == Subject::in_proj || c.subject == Subject::out_proj ||
                          c.subject == Subject::dequant;
  if (!has_matrix) {
    return c.rows != 0 || c.cols != 0 ? "matrix belongs to in_proj, out_proj and dequant" : "";
  }
  if (c.rows < 1 || c.rows > elements_max) return field("rows", c.rows, "1 or more");
  if (c.cols < 1 || c.cols > elements_max) return field("cols", c.cols, "1 or more");
  const bool tiled = c.subject == Subject::dequant || c.weights == Weights::q4;
  if (tiled && c.rows % 4 != 0) return field("rows", c.rows, "a multiple of 4");
  if (tiled && c.cols % 32 != 0) return field("cols", c.cols, "a multiple of 32");
  return "";
}

// q4 rows and q8_0 activations come in blocks of 32.
std::string why_invalid_blocks(const Case& c) {
  const Shape& s = c.shape;
  const bool q8 = c.dialect.activation == Dialect::Activation::q8_0;
  const bool projects = c.subject == Subject::in_proj || c.subject == Subject::out_proj;
  if (q8 && projects && c.cols % 32 != 0) return field("cols", c.cols, "a multiple of 32");
  const bool q4 = c.weights == Weights::q4 && !projects;
  // An engine is opened for q8_0 activations on a shape whose own projections have whole blocks.
  const bool has_layers = c.subject == Subject::layer || (q8 && projects);
  if (!has_layers || (!q4 && !q8)) return "";
  const std::string_view multiple_of_4 = "a multiple of 4 for 4-bit weights";
  const std::string_view multiple_of_32 = "a multiple of 32 for 4-bit weights or activations";
  if (s.hidden_size % 32 != 0) return field("hidden_size", s.hidden_size, multiple_of_32);
  if (s.v_dim() % 32 != 0) return field("num_v_heads head_v_dim", s.v_dim(), multiple_of_32);
  if (q4 && s.conv_dim() % 4 != 0) return field("conv_dim", s.conv_dim(), multiple_of_4);
  return "";
}

// An h that is another call's output needs that call before it, of as many tokens.
std::string why_invalid_h(const Case& c, size_t index) {
  const Call& call = c.calls[index];
  const int64_t id = call.at(Argument::h_id);
  if (id < 0) return "";
  for (size_t i = index; i-- > 0;) {
    if (c.calls[i].at(Argument::out_id) != id) continue;
    if (tokens_of(c.calls[i]) == tokens_of(call)) return "";
    return field("h_id", id, "the out_id of a call of as many tokens");
  }
  return field("h_id", id, "the out_id of an earlier call");
}

// How many entries each list of a call of recurrent needs, and which dialects give it a meaning.
std::string why_invalid_batch(const Case& c, const Call& call) {
  if (call.kind != CallKind::recurrent) return "";
  using D = Dialect;
  const bool is_batch = !call.lengths.empty() || !call.slots.empty();
  const bool keeps = call.at(Argument::snapshots) >= 0;
  const auto sequences = std::max<size_t>(1, call.lengths.size());
  const bool by_token = c.dialect.state_writes == D::StateWrites::every_token;
  const auto indices = by_token ? static_cast<size_t>(tokens_of(call)) : sequences;
  const std::pair<const std::vector<int64_t>*, size_t> needed[] = {
      {&call.slots, indices}, {&call.accepted, sequences}, {&call.from_zero, sequences}};
  for (const auto& [list, count] : needed) {
    if (!list->empty() && list->size() < count) return "a list has too few entries";
  }
  for (const auto list : {&call.lengths, &call.slots, &call.accepted, &call.from_zero}) {
    for (const int64_t entry : *list) {
      if (entry != static_cast<int32_t>(entry)) return "a list has an entry beyond 32 bits";
    }
  }
  if (is_batch && c.pool.states < c.pool.slots) {
    return field("states", c.pool.states, "as many as slots where there are lengths or slots");
  }
  if (keeps && c.dialect.state_writes != D::StateWrites::last_k_newest_first) {
    return "snapshots belong to state_writes=last_k_newest_first";
  }
  if (!call.accepted.empty() && c.dialect.start_slot != D::StartSlot::accepted_minus_one) {
    return "accepted belongs to start_slot=accepted_minus_one";
  }
  const bool has_start = c.dialect.sequence_coding == D::SequenceCoding::start_and_lengths;
  if (call.at(Argument::start) != 0 && (!has_start || call.lengths.empty())) {
    return "start belongs to lengths and sequence_coding=start_and_lengths";
  }
  // Without slots sequence 0 has slot 0, whose state may have lost its meaning.
  const bool has_null = c.dialect.padding == D::Padding::slot_zero_is_null;
  if (has_null && c.pool.states > 1 && call.slots.empty()) return "slot 0 is null: give slots";
  const int64_t kept = product(std::max<int64_t>(0, call.at(Argument::snapshots)),
                               product(static_cast<int64_t>(sequences), c.shape.state_count()));
  return kept > elements_max ? "the snapshots have more than 2^27 numbers" : "";
}

std::string why_invalid_calls(const Case& c) {
  if (c.calls.size() > calls_max) {
    return field("number of calls", static_cast<int64_t>(c.calls.size()), "at most 4096");
  }
  const std::vector<int64_t> first = first_tokens(c);
  for (size_t i = 0; i < c.calls.size(); ++i) {
    const Call& call = c.calls[i];
    const auto where = [&] {
      return "call " + std::to_string(i + 1) + ", " + std::string(name_of(call.kind)) + ": ";
    };
    if (c.subject != Subject::layer && needs_layers(call.kind)) {
      return where() + "it belongs to a case of subject layer";
    }
    for (const auto& [argument, value] : call.given) {
      const ArgumentRule& rule = rule_of(argument);
      if (!takes(call.kind, argument)) return where() + "takes no " + std::string(rule.name);
      if (value < rule.low || value > rule.high) {
        return where() + field(rule.name, value,
                               std::to_string(rule.low) + " to " + std::to_string(rule.high));
      }
    }
    for (const std::string& name : call.omit) {
      if (std::find(std::begin(omissible), std::end(omissible), name) == std::end(omissible)) {
        return where() + "omit: no call has a pointer of this name";
      }
    }
    if (call.at(Argument::weights) >= c.shape.num_layers) {
      return where() + field("weights", call.at(Argument::weights), "less than num_layers");
    }
    const std::string batch = why_invalid_batch(c, call);
    if (!batch.empty()) return where() + batch;
    const std::string h = why_invalid_h(c, i);
    if (!h.empty()) return where() + h;
    const bool from_stream = streams(call.kind) && call.at(Argument::h_id) < 0;
    if (from_stream && first[i] + tokens_of(call) > c.tokens) {
      return where() + field("last token", first[i] + tokens_of(call),
                             "at most tokens, " + std::to_string(c.tokens));
    }
  }
  return "";
}

}  // namespace

std::string_view name_of(Subject subject) { return subject_names[static_cast<size_t>(subject)]; }

std::optional<Subject> subject_named(std::string_view name) {
  const auto at = std::find(subject_names.begin(), subject_names.end(), name);
  if (at == subject_names.end()) return std::nullopt;
  return static_cast<Subject>(at - subject_names.begin());
}

std::optional<Operator> operator_of(Subject subject) {
  if (subject == Subject::layer) return std::nullopt;
  if (subject == Subject::recurrent) return Operator::delta_rule;
  return static_cast<Operator>(static_cast<int>(subject) - 1);
}

std::string_view name_of(Weights weights) { return weights == Weights::q4 ? "q4" : "f32"; }

std::string_view name_of(CallKind kind) { return call_names[static_cast<size_t>(kind)]; }

const ArgumentRule& rule_of(Argument argument) { return rules[static_cast<size_t>(argument)]; }

bool takes(CallKind kind, Argument argument) {
  using A = Argument;
  const auto any_of = [argument](std::initializer_list<Argument> list) {
    return std::find(list.begin(), list.end(), argument) != list.end();
  };
  if (argument == A::read_layer) return true;
  switch (kind) {
    case CallKind::load_layer_f32:
      return any_of({A::layer, A::weights});
    case CallKind::unload_layer:
    case CallKind::reset:
      return any_of({A::layer});
    case CallKind::pool_init:
      return any_of({A::bytes});
    case CallKind::pool_put:
      return any_of({A::weights, A::matrix, A::key, A::rows, A::cols});
    case CallKind::pool_get:
      return any_of({A::weights, A::matrix, A::key, A::capacity});
    case CallKind::bind_q4:
      return any_of({A::layer, A::key_qkv, A::key_z, A::key_out});
    case CallKind::step:
      return any_of({A::layer, A::first_token, A::out_id, A::h_id});
    case CallKind::run:
      return any_of({A::layer, A::first_token, A::tokens, A::out_id, A::h_id});
    case CallKind::forward:
      return any_of({A::first_token, A::tokens, A::out_id, A::h_id});
    case CallKind::read:
      return any_of({A::layer, A::tensor, A::capacity});
    case CallKind::state_export:
      return any_of({A::layer, A::id, A::capacity});
    case CallKind::state_import:
      return any_of({A::layer, A::id, A::bytes});
    case CallKind::snapshot:
      return any_of({A::layer, A::id});
    case CallKind::rollback:
      return any_of({A::id});
    case CallKind::recurrent:
      return any_of({A::first_token, A::tokens, A::snapshots, A::start});
    case CallKind::buffer_create:
      return any_of({A::buffer, A::bytes});
    case CallKind::buffer_write:
    case CallKind::buffer_read:
      return any_of({A::buffer, A::offset, A::bytes});
    case CallKind::buffer_release:
      return any_of({A::buffer});
    case CallKind::apply:
      return any_of({A::op, A::count_off});
    case CallKind::dequant:
      return any_of({A::rows, A::cols});
    case CallKind::pool_clear:
      return false;
  }
  return false;
}

int64_t Call::at(Argument argument) const {
  const auto found = given.find(argument);
  return found == given.end() ? rule_of(argument).unless_given : found->second;
}

Case Case::with_calls(std::vector<Call> other) const {
  Case c = *this;
  c.calls = std::move(other);
  return c;
}

Case Case::with_numbers(std::string name, const std::vector<float>& values) const {
  Case c = *this;
  std::vector<uint32_t>& bits = c.numbers[std::move(name)];
  bits.clear();
  for (const float x : values) bits.push_back(std::bit_cast<uint32_t>(x));
  return c;
}

Case Case::with_tiles(std::string name, const std::vector<uint8_t>& tiles) const {
  Case c = *this;
  std::vector<uint32_t>& words = c.numbers[std::move(name)];
  words.assign(tiles.size() / 4, 0);
  for (size_t i = 0; i < 4 * words.size(); ++i) {
    words[i / 4] |= static_cast<uint32_t>(tiles[i]) << (8 * (i % 4));
  }
  return c;
}

std::string why_invalid(const Case& c) {
  const std::string shape = why_invalid(c.shape);
  if (!shape.empty()) return shape;
  if (c.tokens < 0 || c.tokens > elements_max) return field("tokens", c.tokens, from_on(0));
  if (c.pool.slots < 1 || c.pool.slots > elements_max) {
    return field("slots", c.pool.slots, from_on(1));
  }
  if (c.pool.offset < 0 || c.pool.offset > elements_max) {
    return field("offset", c.pool.offset, from_on(0));
  }
  if (c.pool.gap < 0 || c.pool.gap > elements_max) return field("gap", c.pool.gap, from_on(0));
  if (c.pool.states < 1 || c.pool.states > c.pool.slots) {
    return field("states", c.pool.states, "1 to slots");
  }
  if (c.pool.states > 1 && c.subject != Subject::recurrent) {
    return field("states", c.pool.states, "1, but for recurrent");
  }
  for (const Knob& knob : knobs()) {
    const int64_t value = c.recipe.*knob.member;
    if (value < knob.low || value > knob.high) {
      return field(knob.name, value, std::to_string(knob.low) + " to " + std::to_string(knob.high));
    }
  }
  const std::string matrix = why_invalid_matrix(c);
  if (!matrix.empty()) return matrix;
  const std::string blocks = why_invalid_blocks(c);
  if (!blocks.empty()) return blocks;
  if (numbers_needed(c) > elements_max) return "the case needs more than 2^27 numbers";
  size_t explicit_numbers = 0;
  for (const auto& [name, bits] : c.numbers) explicit_numbers += bits.size();
  if (explicit_numbers > explicit_numbers_max) return "more than 2^20 explicit numbers";
  return why_invalid_calls(c);
}

}  // namespace gdn
