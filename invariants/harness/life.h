// What the calls of a case do to its layers, as a model: which are refused, and which tokens each
// layer's state has seen, with which weights. The numbers themselves are others' business.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "reference/case.h"

namespace gdn {

// A large matrix: of whose weights, which of the three, and the dimensions it was put with.
struct MatrixUsed {
  int64_t weights = 0, matrix = 0, rows = 0, cols = 0;
  int64_t bytes() const;  // as tiles
  friend bool operator==(const MatrixUsed&, const MatrixUsed&) = default;
};

// Whose weights a layer computes with: the small tensors, and the three large matrices.
struct WeightsUsed {
  int64_t small = 0;
  bool from_pool = false;
  std::array<MatrixUsed, 3> large;
  friend bool operator==(const WeightsUsed&, const WeightsUsed&) = default;
};

// A token that a layer was given. Its place among Life::fed is the state after it; place 0 is no
// token but the zero state.
struct Fed {
  size_t before = 0;  // the state that it met
  WeightsUsed weights;
  int64_t row = 0;       // of the case's stream, its h
  size_t out_of = 0;     // or the token whose out was its h; 0: none
  size_t call = 0;       // in which it came
  uint64_t history = 0;  // a hash of all of the above but the calls, back to the zero state
};

struct CallLife {
  bool refused = false;
  // A refusal for want of memory is right as well: what it asks for is beyond what a case needs.
  bool is_huge = false;
  int64_t first_token = 0;     // of the stream, with "the next one" resolved
  std::vector<size_t> tokens;  // step, run, forward: those whose out it gives, row by row
  // Of the layer that is read after the call: its state, and whether the other tensors are there.
  std::optional<size_t> read;
  bool read_has_token = false;
};

// Calls as the tokens came in, and what was fed, of a valid case of subject layer.
struct Life {
  std::vector<Fed> fed;
  std::vector<CallLife> calls;
};

struct LayerLife {
  std::optional<int64_t> loaded;  // whose small tensors
  bool has_f32 = false;
  std::optional<std::array<MatrixUsed, 3>> bound;
  size_t place = 0;        // its state, among those fed
  bool has_token = false;  // since its state was last set from elsewhere

  bool ready() const { return loaded && (has_f32 || bound); }
};

// The model, one call after the other; a value, so that a copy is a way back. The case outlives it.
class LifeModel {
 public:
  static constexpr int64_t no_limit = INT64_MAX;
  explicit LifeModel(const Case& c, int64_t snapshots_max = no_limit, bool observes = true);
  explicit LifeModel(Case&&, int64_t = 0, bool = true) = delete;

  // What the next call must do. The model counts on it.
  CallLife next(const Call& call);

  const std::vector<Fed>& fed() const { return fed_; }
  const std::vector<LayerLife>& layers() const { return layers_; }
  // Places whose out is kept, by out_id; the ids of a call that was refused are absent.
  const std::map<int64_t, std::vector<size_t>>& outputs() const { return outputs_; }
  // How many tokens the last call of this out_id was asked for: a later h_id must ask for as many.
  const std::map<int64_t, int64_t>& output_tokens() const { return output_tokens_; }
  const std::map<int64_t, MatrixUsed>& pool() const { return pool_; }
  const std::map<int64_t, size_t>& exports() const { return exports_; }
  const std::map<int64_t, int64_t>& buffers() const { return buffers_; }
  // Of the snapshots that can be rolled back to, by the case's ids; and their number by the model.
  std::map<int64_t, uint64_t> snapshot_ids() const;

  // The matrix as a case puts it unless it says otherwise, and its key.
  MatrixUsed own_matrix(int64_t weights, int64_t matrix) const;
  static int64_t own_key(int64_t weights, int64_t matrix) { return 1 + 3 * weights + matrix; }
  int64_t key_of(const Call& call) const;  // of pool_put and pool_get
  int64_t exported_bytes() const;

 private:
  struct Snapshot {
    uint64_t serial;
    size_t first_layer;
    std::vector<size_t> places;
  };

  bool is_layer(int64_t layer) const { return layer >= 0 && layer < case_->shape.num_layers; }
  LayerLife& at(int64_t layer) { return layers_[static_cast<size_t>(layer)]; }
  void one(const Call& call, int64_t first_token);
  void load(const Call& call, LayerLife& layer);
  void reset(int64_t layer_or_all);
  void read(const Call& call, const LayerLife& layer);
  void memory(const Call& call);
  void clear_pool();
  int64_t whole_pool() const;
  void put(const Call& call);
  void get(const Call& call);
  void bind(const Call& call, LayerLife& layer);
  void feed(const Call& call, int64_t first_token, const std::vector<size_t>* h);
  size_t give(LayerLife& layer, int64_t row, size_t out_of);
  void export_state(const Call& call, const LayerLife& layer);
  void import_state(const Call& call, int64_t layer);
  void snapshot(const Call& call, int64_t layer);
  void rollback(const Call& call);
  void forget_snapshots(int64_t layer);
  void buffer(const Call& call);
  bool is_refused_beside(const Call& call) const;

  const Case* case_;  // its calls and explicit numbers do not matter
  int64_t snapshots_max_;
  bool observes_;

  StreamPositions positions_;
  size_t calls_made_ = 0;
  CallLife now_;
  std::vector<Fed> fed_ = std::vector<Fed>(1);
  std::vector<LayerLife> layers_;
  std::map<int64_t, MatrixUsed> pool_;
  int64_t pool_capacity_ = 0;
  std::map<int64_t, int64_t> buffers_;  // bytes of each
  std::map<int64_t, size_t> exports_;
  std::map<int64_t, std::vector<size_t>> outputs_;
  std::map<int64_t, int64_t> output_tokens_;
  std::vector<Snapshot> snapshots_;      // oldest first
  std::map<int64_t, uint64_t> serials_;  // of the case's ids
  uint64_t next_serial_ = 1;
};

// Of a valid case of subject layer.
Life live(const Case& c);

}  // namespace gdn
