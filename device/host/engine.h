// The production engine behind the C ABI of device/gdn.h, over a Backend: the `cuda` and `simt`
// engines are this source over two implementations. One public function per call of the ABI, of
// the same name, which throws Failed where the call is refused. What a call needs is checked and
// allocated before anything changes.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "device/gdn.h"
#include "device/host/backend.h"
#include "device/host/memory.h"
#include "device/host/sizes.h"
#include "device/host/token.h"

namespace gdn::host {

struct PoolEntry {
  int64_t rows, cols;
  uint8_t* tiles;  // a device address
  uint64_t bytes;
};

// A large projection: float32 rows or tiles of the pool, or neither.
struct Projection {
  DeviceArray<float> f32;
  const PoolEntry* q4 = nullptr;

  Matrix matrix(int64_t rows, int64_t cols) const {
    return {rows, cols, f32.data(), q4 == nullptr ? nullptr : q4->tiles};
  }
};

// What a token changes of a layer.
struct LayerState {
  DeviceArray<float> S, history;
  TokenTensors tensors;  // where the engine observes
  bool has_token = false;
};

struct Layer {
  bool loaded = false;     // the six small tensors are there
  Projection qkv, z, out;  // all float32, all q4, or all absent
  DeviceArray<float> b, a, conv, A_log, dt_bias, norm;
  LayerState now;
  LayerState before;             // where Undo keeps what a call may have to put back
  std::unique_ptr<Graph> graph;  // one token through this layer; absent until asked for

  bool has_f32() const { return qkv.f32.present(); }
  bool is_bound() const { return qkv.q4 != nullptr; }
  void unbind() { qkv.q4 = z.q4 = out.q4 = nullptr; }
};

struct Pool {
  explicit Pool(HostMemory& memory) : entries(&memory) {}
  DeviceArray<uint8_t> bytes;
  uint64_t capacity_bytes = 0;
  uint64_t used_bytes = 0;
  std::pmr::map<uint64_t, PoolEntry> entries;
};

struct Snapshot {
  uint64_t id;
  int64_t first_layer, layer_count;
  DeviceArray<float> values;  // S and HIST, layer after layer
};

struct LayerRange {
  int64_t first, count;
  int64_t end() const { return first + count; }
};

struct RecurrentPlan;

class Engine {
 public:
  Engine(const gdn_shape& shape, const Sizes& sizes, const gdn_options& options,
         std::unique_ptr<Backend> backend);

  const Gate& gate() const { return gate_; }
  const char* last_error() const { return error_.text; }
  bool is_lost() const { return is_lost_; }
  // Keeps what a call came to for last_error. Once the device is lost, so is every later call.
  gdn_status conclude(const Status& status);

  void buffer_create(uint64_t bytes, gdn_buffer* buffer);
  void buffer_write(gdn_buffer buffer, uint64_t offset_bytes, const void* src, uint64_t bytes);
  void buffer_read(gdn_buffer buffer, uint64_t offset_bytes, void* dst, uint64_t bytes);
  void buffer_release(gdn_buffer buffer);

  void apply(gdn_operator op, const gdn_shape* shape, const gdn_array* inputs, size_t num_inputs,
             const gdn_array* outputs, size_t num_outputs);
  void dequant(int64_t rows, int64_t cols, const void* tiles, float* out);

  void load_layer_f32(int64_t layer, const gdn_layer_weights* weights);
  void unload_layer(int64_t layer);

  void pool_init(uint64_t capacity_bytes);
  void pool_put(uint64_t key, int64_t rows, int64_t cols, const void* tiles);
  void pool_get(uint64_t key, void* dst, uint64_t capacity_bytes, uint64_t* size_bytes);
  void pool_clear();
  void bind_q4(int64_t layer, uint64_t key_qkv, uint64_t key_z, uint64_t key_out);

  void step(int64_t layer, const float* h, float* out);
  void run(int64_t layer, int64_t T, const float* h, float* out);
  void forward(int64_t T, const float* h, float* out);

  void reset(int64_t layer_or_all);
  void read(int64_t layer, gdn_tensor tensor, float* dst, int64_t capacity, int64_t* count);
  void state_export(int64_t layer, void* dst, uint64_t capacity_bytes, uint64_t* size_bytes);
  void state_import(int64_t layer, const void* src, uint64_t size_bytes);
  void snapshot(int64_t layer_or_all, uint64_t* id);
  void rollback(uint64_t id);

  void recurrent(const gdn_recurrent_args* args);

 private:
  friend class Undo;

  Layer& layer(int64_t l) { return layers_[static_cast<size_t>(l)]; }
  void check_layer(int64_t l) const;
  LayerRange range_of(int64_t layer_or_all) const;
  void check_runnable(int64_t l);
  void check_tokens(int64_t T, const float* h, const float* out) const;
  void drop_graphs(int64_t l);
  void drop_bindings();
  void zero_state(Layer& layer);
  void drop_snapshots_of(LayerRange range);

  const float* queue_rounded(const float* x, int64_t count);
  void queue_layer(const Layer& layer, const float* h);
  const TokenTensors& tensors_of(const Layer& l) const {
    return observe_ ? l.now.tensors : scratch_;
  }
  std::unique_ptr<Graph> captured(LayerRange range);
  void replay_tokens(const Graph& graph, LayerRange range, int64_t T, const float* h, float* out);

  unsigned char* view_data(const gdn_view& view) const;  // a device address, of a present view
  void check_buffer(gdn_buffer buffer, uint64_t offset_bytes, uint64_t bytes,
                    const void* host) const;
  void read_indices(const gdn_view& view, int64_t count, std::pmr::vector<int32_t>& to);
  void plan(const gdn_recurrent_args& args, RecurrentPlan& plan);
  struct Gathered;
  Gathered gathered(const gdn_recurrent_args& args, const RecurrentPlan& plan, float q_scale);
  void norm_q_and_k(const gdn_recurrent_args& args, float q_scale, const Gathered& s);
  void recur(const gdn_recurrent_args& args, const Gathered& s, float o_factor);

  Gate gate_;
  HostMemory host_;
  std::unique_ptr<Backend> backend_;
  DeviceMemory device_;
  gdn_shape shape_;
  Sizes sizes_;
  bool observe_, q8_activations_;
  int64_t snapshots_max_;
  Status error_;
  bool is_lost_ = false;

  std::pmr::vector<Layer> layers_;
  TokenTensors scratch_;            // of the token at hand, where the engine does not observe
  DeviceArray<float> rounded_;      // activations as q8_0
  DeviceArray<float> decay_;        // exp(g) of the token at hand
  DeviceArray<float> hidden_;       // h of the token at hand, where graphs read it
  DeviceArray<float> staged_;       // h, then out, of up to staged_tokens tokens
  std::unique_ptr<Graph> forward_;  // one token through all layers; absent until asked for
  Pool pool_;
  std::pmr::map<gdn_buffer, DeviceArray<unsigned char>> buffers_;
  gdn_buffer next_buffer_ = 1;
  std::pmr::list<Snapshot> snapshots_;  // oldest first
  uint64_t next_snapshot_ = 1;
};

}  // namespace gdn::host
