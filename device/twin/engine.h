// The twin: a GDN engine in plain serial float32, behind the C ABI of device/gdn.h. One public
// function per call of the ABI, of the same name. What a call needs is allocated before anything
// changes, by exception where it fails; what follows cannot fail.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <list>
#include <map>
#include <span>
#include <vector>

#include "device/gdn.h"
#include "device/twin/memory.h"
#include "device/twin/operators.h"
#include "device/twin/sizes.h"

namespace gdn::twin {

// The tensors of one token that are not state, in one allocation; V is a slice of CONV.
class TokenTensors {
 public:
  TokenTensors() = default;
  TokenTensors(Memory& memory, const Sizes& sizes);
  float* at(gdn_tensor tensor) { return start_[tensor]; }

 private:
  Array<float> storage_;
  std::array<float*, GDN_S> start_ = {};
};

struct PoolEntry {
  int64_t rows, cols;
  const uint8_t* tiles;
  uint64_t bytes;
};

// A large projection: float32 rows or tiles of the pool, or neither.
struct Projection {
  Array<float> f32;
  const PoolEntry* q4 = nullptr;
};

struct Layer {
  bool loaded = false;  // the six small tensors are there
  bool has_token = false;
  Projection qkv, z, out;  // all float32, all q4, or all absent
  Array<float> b, a, conv, A_log, dt_bias, norm;
  Array<float> state, history;
  TokenTensors tensors;  // where the engine observes

  bool has_f32() const { return qkv.f32.data() != nullptr; }
  bool is_bound() const { return qkv.q4 != nullptr; }
  void unbind() { qkv.q4 = z.q4 = out.q4 = nullptr; }
};

struct Pool {
  explicit Pool(Memory& memory) : entries(&memory) {}
  Array<uint8_t> bytes;
  uint64_t used_bytes = 0;
  std::pmr::map<uint64_t, PoolEntry> entries;
};

struct Snapshot {
  uint64_t id;
  int64_t first_layer, layer_count;
  Array<float> values;  // S and HIST, layer after layer
};

struct Applied;   // one call of apply, its arrays by name
struct ViewRule;  // what a view of recurrent must be
struct PlannedSequence;
struct RecurrentPlan;

// An array that apply looks for.
struct Expected {
  const char* name;
  int64_t count;
  gdn_format format = GDN_F32;
  bool is_optional = false;  // an array of no elements may be absent in any case
};

class Engine {
 public:
  Engine(const gdn_shape& shape, const Sizes& sizes, const gdn_options& options,
         const TwinOperators& operators);

  const Gate& gate() const { return gate_; }
  const char* last_error() const { return error_; }
  void clear_error() { error_[0] = '\0'; }
  gdn_status refuse(gdn_status status, const char* format, ...)
      __attribute__((format(printf, 3, 4)));
  gdn_status out_of_memory();

  gdn_status buffer_create(uint64_t bytes, gdn_buffer* buffer);
  gdn_status buffer_write(gdn_buffer buffer, uint64_t offset_bytes, const void* src,
                          uint64_t bytes);
  gdn_status buffer_read(gdn_buffer buffer, uint64_t offset_bytes, void* dst, uint64_t bytes);
  gdn_status buffer_release(gdn_buffer buffer);

  gdn_status apply(gdn_operator op, const gdn_shape* shape, const gdn_array* inputs,
                   size_t num_inputs, const gdn_array* outputs, size_t num_outputs);
  gdn_status dequant(int64_t rows, int64_t cols, const void* tiles, float* out);

  gdn_status load_layer_f32(int64_t layer, const gdn_layer_weights* weights);
  gdn_status unload_layer(int64_t layer);

  gdn_status pool_init(uint64_t capacity_bytes);
  gdn_status pool_put(uint64_t key, int64_t rows, int64_t cols, const void* tiles);
  gdn_status pool_get(uint64_t key, void* dst, uint64_t capacity_bytes, uint64_t* size_bytes);
  gdn_status pool_clear();
  gdn_status bind_q4(int64_t layer, uint64_t key_qkv, uint64_t key_z, uint64_t key_out);

  gdn_status step(int64_t layer, const float* h, float* out);
  gdn_status run(int64_t layer, int64_t T, const float* h, float* out);
  gdn_status forward(int64_t T, const float* h, float* out);

  gdn_status reset(int64_t layer_or_all);
  gdn_status read(int64_t layer, gdn_tensor tensor, float* dst, int64_t capacity, int64_t* count);
  gdn_status state_export(int64_t layer, void* dst, uint64_t capacity_bytes, uint64_t* size_bytes);
  gdn_status state_import(int64_t layer, const void* src, uint64_t size_bytes);
  gdn_status snapshot(int64_t layer_or_all, uint64_t* id);
  gdn_status rollback(uint64_t id);

  gdn_status recurrent(const gdn_recurrent_args* args);

 private:
  bool is_layer(int64_t layer) const { return layer >= 0 && layer < shape_.num_layers; }
  gdn_status refuse_layer(int64_t layer);
  gdn_status check_runnable(int64_t layer);
  void drop_bindings();
  void zero_state(Layer& layer);
  void drop_snapshots_of(int64_t layer);

  void project(const Projection& w, int64_t rows, int64_t cols, const float* x, float* y);
  void advance(Layer& layer, const float* h, float* out);  // one token

  gdn_status check_arrays(const char* side, std::span<const gdn_array> arrays,
                          std::initializer_list<Expected> expected);
  gdn_status check_arrays(const Applied& call, std::initializer_list<Expected> inputs,
                          std::initializer_list<Expected> outputs);
  gdn_status apply_projection(const Applied& call);
  gdn_status apply_gates(const Applied& call);
  gdn_status apply_conv(const Applied& call);
  gdn_status apply_qk_norm(const Applied& call);
  gdn_status apply_delta_rule(const Applied& call);
  gdn_status apply_gated_norm(const Applied& call);

  gdn_status check_counts(const gdn_recurrent_args& args);
  gdn_status check_choices(const gdn_recurrent_args& args);
  gdn_status check_views(const gdn_recurrent_args& args);
  gdn_status plan_sequences(const gdn_recurrent_args& args, RecurrentPlan* plan);
  // What a slot index means under the call's padding: -1 is padding.
  gdn_status check_slot(const gdn_recurrent_args& args, int64_t place, int64_t* slot);
  gdn_status plan_slots(const gdn_recurrent_args& args, PlannedSequence& sequence,
                        RecurrentPlan* plan);
  struct RecurrentCall;
  gdn_status plan_recurrent(const gdn_recurrent_args& args, RecurrentPlan* plan);
  gdn_status check_view(const ViewRule& rule);
  unsigned char* view_data(const gdn_view& view);  // null where absent

  Gate gate_;
  Memory memory_;
  gdn_shape shape_;
  Sizes sizes_;
  bool observe_, q8_activations_;
  int64_t snapshots_max_;
  const TwinOperators& operators_;
  char error_[256] = "";

  std::pmr::vector<Layer> layers_;
  TokenTensors scratch_;  // of the token at hand, where the engine does not observe
  Array<float> hidden_;   // between layers of forward
  Array<float> rounded_;  // activations as q8_0
  Pool pool_;
  std::pmr::map<gdn_buffer, Array<unsigned char>> buffers_;
  gdn_buffer next_buffer_ = 1;
  std::pmr::list<Snapshot> snapshots_;  // oldest first
  uint64_t next_snapshot_ = 1;
};

// A table of the ABI for one table of operators, and its calls.
gdn_status twin_open(const TwinOperators& operators, const gdn_shape* shape,
                     const gdn_options* options, gdn_engine** engine);
using OpenFunction = gdn_status (*)(const gdn_shape*, const gdn_options*, gdn_engine**);
gdn_api twin_api(const char* name, OpenFunction open);
const char* twin_description();

}  // namespace gdn::twin
