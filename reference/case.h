// A case: one test input as a plain value. Everything that an engine is given is a pure function of
// it, and its text form (reference/case_text.cpp) can be read back years later.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reference/dialect.h"
#include "reference/layer.h"
#include "reference/shape.h"
#include "reference/tensor.h"
#include "reference/values.h"

namespace gdn {

// What a case exercises: a stack of layers through its calls, one operator through `apply`, the
// decoder, or the recurrence on its own. The operators stand in their order.
enum class Subject : uint8_t {
  layer,
  in_proj,
  gates,
  conv,
  qk_norm,
  delta_rule,
  gated_norm,
  out_proj,
  dequant,
  recurrent
};
std::string_view name_of(Subject subject);
std::optional<Subject> subject_named(std::string_view name);
// The operator of a subject; none for layer. recurrent is the delta rule.
std::optional<Operator> operator_of(Subject subject);

enum class Weights : uint8_t { f32, q4 };
std::string_view name_of(Weights weights);

// Every call of the C ABI but open and close, by its name there.
enum class CallKind : uint8_t {
  load_layer_f32,
  unload_layer,
  pool_init,
  pool_put,
  pool_get,
  pool_clear,
  bind_q4,
  step,
  run,
  forward,
  reset,
  read,
  state_export,
  state_import,
  snapshot,
  rollback,
  apply,
  dequant,
  recurrent,
  buffer_create,
  buffer_write,
  buffer_read,
  buffer_release
};
inline constexpr int call_kind_count = 23;
std::string_view name_of(CallKind kind);

enum class Argument : uint8_t {
  layer,        // 0; -1 is all where the call allows it
  read_layer,   // whose tensors are read after the call; -1: the call's own layer
  weights,      // whose weights are loaded or put; -1: the layer's own
  first_token,  // of the input stream; -1: the one after the last that this layer was given
  tokens,       // T of run, forward and recurrent
  matrix,       // pool_put: 0 qkv, 1 z, 2 out
  key,          // of the pool; -1: the own key of weights and matrix
  key_qkv,
  key_z,
  key_out,  // bind_q4; -1: the own keys of the layer
  rows,
  cols,       // of pool_put, dequant; -1: the matrix's own
  bytes,      // pool_init, buffer_*, state_import; -1: exactly what is needed
  capacity,   // read, pool_get, state_export; -1: exactly what is needed; -2: dst is null
  tensor,     // read: the number of a Tensor
  id,         // snapshot: the name it gets in this case; rollback, export, import: which
  buffer,     // buffer_*: which of this case's
  offset,     // buffer_write, buffer_read: in bytes
  out_id,     // of step, run, forward: the name that its out gets in this case; -1: none
  h_id,       // whose out is h in place of the stream: an earlier call's out_id; -1: the stream
  op,         // of apply: the number of an Operator; -1: the case's own
  count_off,  // of apply: added to the count of every array
  snapshots,  // of recurrent: the last states that are kept of each sequence; -1: none, and the
              // final one goes to its slot
  start,      // of recurrent: the first token of the first sequence, by start_and_lengths
};
inline constexpr int argument_count = 24;

struct ArgumentRule {
  Argument argument;
  std::string_view name;
  int64_t unless_given;
  int64_t low, high;  // what the text form accepts; engines must refuse more than this refuses
};
const ArgumentRule& rule_of(Argument argument);
bool takes(CallKind kind, Argument argument);

struct Call {
  CallKind kind = CallKind::step;
  std::map<Argument, int64_t> given;
  std::set<Tensor> reads;      // read back after the call, from read_layer
  std::set<std::string> omit;  // pointers passed as null: h, out, or the name of an array
  // Of recurrent; empty: one sequence of all tokens in slot 0 that starts from the slot's state.
  // With `lengths` or `slots` the dialect's sequence coding, state writes, padding and start slot
  // hold, and every slot has a state of its own. Entries beyond those that are needed are stale.
  std::vector<int64_t> lengths, slots, accepted, from_zero;

  int64_t at(Argument argument) const;
};

Call call_of(CallKind kind, std::map<Argument, int64_t> given = {},
             std::set<std::string> omit = {});

// How states lie in the buffer that `recurrent` is given, in elements.
struct PoolLayout {
  int64_t slots = 1;
  int64_t offset = 0;  // before the first state
  int64_t gap = 0;     // after each state
  int64_t states = 1;  // slots that begin with a state; the others hold no number
  friend bool operator==(const PoolLayout&, const PoolLayout&) = default;
};

struct Case {
  Subject subject = Subject::layer;
  uint64_t seed = 0;
  Shape shape;
  Dialect dialect;
  Weights weights = Weights::f32;
  int64_t rows = 0, cols = 0;  // of in_proj, out_proj and dequant
  int64_t tokens = 0;          // in the input stream of layer and recurrent
  Recipe recipe;
  PoolLayout pool;
  std::vector<Call> calls;  // of layer; other subjects have one call by their nature if empty
  // Bits that replace a drawn array: float32 numbers, or a q4_tile matrix in its order, 18 words
  // of little-endian bytes a tile.
  std::map<std::string, std::vector<uint32_t>> numbers;

  // Simpler cases near this one, each of them valid: what a shrinker tries next.
  std::vector<Case> neighbours() const;
  // Its calls, or the one that it has by its nature.
  std::vector<Call> calls_made() const;
  Case with_calls(std::vector<Call> other) const;
  // The case with its array `name` given in full.
  Case with_numbers(std::string name, const std::vector<float>& values) const;
  // The same for 4-bit tiles, named `tiles`, or `qkv_tiles`, `z_tiles`, `out_tiles` of a layer.
  Case with_tiles(std::string name, const std::vector<uint8_t>& tiles) const;
};

// What is wrong with a case, or an empty string. A valid case needs at most elements_max numbers.
inline constexpr int64_t elements_max = int64_t{1} << 27;
inline constexpr size_t calls_max = 4096;
inline constexpr size_t explicit_numbers_max = size_t{1} << 20;
std::string why_invalid(const Case& c);

// Calls that make every layer ready: weights loaded, or put into the pool and bound.
std::vector<Call> setup_calls(const Case& c);
// set-up, then the whole stream through `step` of layer 0, every tensor read after each token.
std::vector<Call> stepped_calls(const Case& c);
// What `apply`, `dequant` and `recurrent` are given among the calls of a layer: a case of that
// subject with the layer's shape, seed and recipe.
Case beside_the_layers(const Case& c, const Call& call);
// The first token of one call after the other, with "the next one" resolved; 0 where a call takes
// none.
class StreamPositions {
 public:
  int64_t first_of(const Call& call);

 private:
  std::map<int64_t, int64_t> next_;
};
std::vector<int64_t> first_tokens(const Case& c);

// The text form. print is canonical: equal cases have equal text, what has its default is left
// out, and print(parse(print(c))) is print(c). parse allocates nothing in proportion to a size
// that the text claims; on failure *why names the line and what was expected.
std::string print(const Case& c);
std::optional<Case> parse_case(std::string_view text, std::string* why);
// Eight hexadecimal digits of the canonical text's FNV-1a hash, its halves folded together.
std::string hash8(const Case& c);

// The numbers of one layer, owned.
struct LayerNumbers {
  std::vector<float> qkv, z, out;  // empty where the case has 4-bit weights
  std::vector<uint8_t> qkv_tiles, z_tiles, out_tiles;
  std::vector<float> b, a, conv, A_log, dt_bias, norm;
};

// All numbers that an engine is given in a case.
struct Numbers {
  std::vector<LayerNumbers> layers;                  // subject layer
  std::vector<std::vector<float>> h;                 // subject layer: [tokens][hidden]
  std::map<std::string, std::vector<float>> arrays;  // other subjects, by the ABI's names
  std::vector<uint8_t> tiles;                        // in_proj, out_proj with q4; dequant
};
// Of a valid case; nullopt and *why where explicit numbers do not fit or cannot be quantised.
std::optional<Numbers> materialise(const Case& c, std::string* why);
// A view of one layer's weights; valid as long as `numbers`.
LayerWeights view_of(const LayerNumbers& numbers, const Shape& shape);

}  // namespace gdn
