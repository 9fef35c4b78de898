// The model of layers, pool, exports and snapshots behind Lab::expect.
#include "invariants/harness/life.h"

#include <algorithm>
#include <map>
#include <set>

#include "reference/formats.h"

namespace gdn {
namespace {

struct LayerLife {
  std::optional<int64_t> loaded;  // whose small tensors
  bool has_f32 = false;
  std::optional<std::array<int64_t, 3>> bound;  // whose large matrices, from the pool
  // Where its state is; nothing where the model cannot say, until it is zeroed.
  std::optional<Place> place;
  bool has_token = false;       // since its state was last set from elsewhere
  bool is_bound_oddly = false;  // to matrices that fit and are those of another place

  bool ready() const { return loaded && (has_f32 || bound); }
  WeightsUsed weights() const {
    if (bound) return {*loaded, *bound};
    return {*loaded, {*loaded, *loaded, *loaded}};
  }
};

struct PoolEntry {
  int64_t weights, matrix, rows, cols;
  int64_t bytes() const { return q4_bytes(rows, cols); }
};

struct Snapshot {
  int64_t first_layer;
  std::vector<std::optional<Place>> places;
};

class Model {
 public:
  explicit Model(const Case& c) : case_(c), layers_(static_cast<size_t>(c.shape.num_layers)) {
    for (LayerLife& layer : layers_) layer.place = zero();
  }

  Life run() && {
    const std::vector<int64_t> first = first_tokens(case_);
    for (size_t i = 0; i < case_.calls.size(); ++i) {
      const Call& call = case_.calls[i];
      now_ = {};
      one(call, first[i]);
      const int64_t asked = call.at(Argument::read_layer);
      const int64_t own = takes(call.kind, Argument::layer) ? call.at(Argument::layer) : 0;
      const int64_t read = asked >= 0 ? asked : std::max<int64_t>(0, own);
      if (is_layer(read)) now_.read = at(read).place;
      life_.calls.push_back(now_);
    }
    return std::move(life_);
  }

 private:
  bool is_layer(int64_t layer) const { return layer >= 0 && layer < case_.shape.num_layers; }
  LayerLife& at(int64_t layer) { return layers_[static_cast<size_t>(layer)]; }

  Place zero() {
    life_.sequences.emplace_back();
    return {life_.sequences.size() - 1, 0};
  }

  // A place that can grow: a new sequence where the old one went on from here before.
  void extend(Place& place, const WeightsUsed& weights, int64_t first, int64_t tokens) {
    Sequence* sequence = &life_.sequences[place.sequence];
    if (sequence->tokens.size() != place.tokens) {
      Sequence prefix = *sequence;
      prefix.tokens.resize(place.tokens);
      size_t kept = 0;
      size_t covered = 0;
      while (covered < place.tokens) covered += static_cast<size_t>(prefix.calls[kept++]);
      prefix.calls.resize(kept);
      life_.sequences.push_back(std::move(prefix));
      place.sequence = life_.sequences.size() - 1;
      sequence = &life_.sequences.back();
    }
    if (sequence->tokens.empty()) sequence->weights = weights;
    for (int64_t t = first; t < first + tokens; ++t) sequence->tokens.push_back(t);
    if (tokens > 0) sequence->calls.push_back(tokens);
    place.tokens += static_cast<size_t>(tokens);
  }

  void one(const Call& call, int64_t first_token) {
    const int64_t layer = call.at(Argument::layer);
    const bool names_layer = takes(call.kind, Argument::layer);
    const bool all_allowed = call.kind == CallKind::reset || call.kind == CallKind::snapshot;
    if (names_layer && !is_layer(layer) && !(all_allowed && layer == -1)) {
      now_.refused = true;
      return;
    }
    switch (call.kind) {
      case CallKind::load_layer_f32:
        return load(call, at(layer));
      case CallKind::unload_layer:
        at(layer) = {};
        at(layer).place = zero();
        return forget_snapshots(layer);
      case CallKind::reset:
        return reset(layer);
      case CallKind::read:
        return read(call, at(layer));
      case CallKind::pool_init:
        pool_capacity_ = call.at(Argument::bytes) >= 0 ? call.at(Argument::bytes) : whole_pool();
        return clear_pool();
      case CallKind::pool_clear:
        return clear_pool();
      case CallKind::pool_put:
        return put(call);
      case CallKind::pool_get:
        return get(call);
      case CallKind::bind_q4:
        return bind(call, at(layer));
      case CallKind::step:
      case CallKind::run:
      case CallKind::forward:
        return feed(call, first_token);
      case CallKind::state_export:
        return export_state(call, at(layer));
      case CallKind::state_import:
        return import(call, layer);
      case CallKind::snapshot:
        return snapshot(call, layer);
      case CallKind::rollback:
        return rollback(call);
      case CallKind::buffer_create:
        buffers_[call.at(Argument::buffer)] = std::max<int64_t>(0, call.at(Argument::bytes));
        return;
      case CallKind::buffer_release:
        now_.refused = buffers_.erase(call.at(Argument::buffer)) == 0;
        return;
      case CallKind::buffer_write:
      case CallKind::buffer_read:
        return access_buffer(call);
      case CallKind::apply:
      case CallKind::dequant:
        now_.refused = is_refused_beside(call);
        return;
      default:
        return;
    }
  }

  // Operators on explicit inputs: no state of a layer has a part in them.
  static bool is_refused_beside(const Call& call) {
    if (!call.omit.empty()) return true;
    if (call.kind == CallKind::apply) {
      const int64_t op = call.at(Argument::op);
      return call.at(Argument::count_off) != 0 || op < -1 ||
             op > static_cast<int64_t>(Operator::out_proj);
    }
    const int64_t rows = call.at(Argument::rows);
    const int64_t cols = call.at(Argument::cols);
    return !why_not_q4_tile(rows == -1 ? q4_tile_rows : rows, cols == -1 ? q4_block_weights : cols)
                .empty();
  }

  void access_buffer(const Call& call) {
    const auto found = buffers_.find(call.at(Argument::buffer));
    const int64_t bytes = std::max<int64_t>(0, call.at(Argument::bytes));
    const int64_t offset = call.at(Argument::offset);
    now_.refused = found == buffers_.end() || offset < 0 || bytes > elements_max ||
                   bytes > found->second || offset > found->second - bytes;
  }

  void load(const Call& call, LayerLife& layer) {
    const std::set<std::string> large = {"qkv", "z", "out"};
    const bool without_large =
        std::includes(call.omit.begin(), call.omit.end(), large.begin(), large.end());
    const bool omits_some = !call.omit.empty() && (!without_large || call.omit.size() != 3);
    if (layer.loaded || omits_some) {
      now_.refused = true;
      return;
    }
    const int64_t given = call.at(Argument::weights);
    layer.loaded = given >= 0 ? given : call.at(Argument::layer);
    layer.has_f32 = !without_large && case_.weights == Weights::f32;
  }

  void reset(int64_t layer) {
    for (int64_t l = layer < 0 ? 0 : layer; l < (layer < 0 ? case_.shape.num_layers : layer + 1);
         ++l) {
      at(l).place = zero();
      at(l).has_token = false;
      forget_snapshots(l);
    }
  }

  void clear_pool() {
    pool_.clear();
    for (LayerLife& layer : layers_) layer.bound.reset();
  }

  PoolEntry own_entry(int64_t weights, int64_t matrix) const {
    const Shape& s = case_.shape;
    const int64_t rows[] = {s.conv_dim(), s.v_dim(), s.hidden_size};
    const int64_t cols[] = {s.hidden_size, s.hidden_size, s.v_dim()};
    return {weights, matrix, rows[matrix], cols[matrix]};
  }
  // What pool_init is given unless a case says otherwise.
  int64_t whole_pool() const {
    int64_t bytes = 0;
    for (int64_t matrix = 0; matrix < 3; ++matrix) bytes += own_entry(0, matrix).bytes();
    return case_.weights == Weights::q4 ? bytes * case_.shape.num_layers : 0;
  }

  int64_t key_of(const Call& call) const {
    const int64_t given = call.at(Argument::key);
    return given >= 0 ? given
                      : own_key(std::max<int64_t>(0, call.at(Argument::weights)),
                                call.at(Argument::matrix));
  }
  static int64_t own_key(int64_t weights, int64_t matrix) { return 1 + 3 * weights + matrix; }

  void put(const Call& call) {
    PoolEntry entry =
        own_entry(std::max<int64_t>(0, call.at(Argument::weights)), call.at(Argument::matrix));
    if (call.at(Argument::rows) != -1) entry.rows = call.at(Argument::rows);
    if (call.at(Argument::cols) != -1) entry.cols = call.at(Argument::cols);
    int64_t used = 0;
    for (const auto& [key, other] : pool_) used += other.bytes();
    now_.refused =
        call.omit.contains("tiles") || !why_not_q4_tile(entry.rows, entry.cols).empty() ||
        entry.rows > elements_max / entry.cols || entry.bytes() > pool_capacity_ - used ||
        !pool_.emplace(key_of(call), entry).second;
  }

  void get(const Call& call) {
    const auto found = pool_.find(key_of(call));
    const int64_t capacity = call.at(Argument::capacity);
    now_.refused = found == pool_.end() || (capacity >= 0 && capacity < found->second.bytes());
  }

  void bind(const Call& call, LayerLife& layer) {
    const int64_t own = call.at(Argument::layer);
    const Argument arguments[] = {Argument::key_qkv, Argument::key_z, Argument::key_out};
    std::array<int64_t, 3> whose = {};
    bool oddly = false;
    for (size_t matrix = 0; matrix < 3; ++matrix) {
      const int64_t given = call.at(arguments[matrix]);
      const auto found =
          pool_.find(given >= 0 ? given : own_key(own, static_cast<int64_t>(matrix)));
      const PoolEntry right = own_entry(own, static_cast<int64_t>(matrix));
      const bool fits = found != pool_.end() && found->second.rows == right.rows &&
                        found->second.cols == right.cols;
      if (!fits) {
        now_.refused = true;
        return;
      }
      oddly = oddly || found->second.matrix != right.matrix;
      whose[matrix] = found->second.weights;
    }
    now_.refused = !layer.loaded || layer.has_f32;
    if (now_.refused) return;
    layer.bound = whose;
    layer.is_bound_oddly = oddly;
  }

  void feed(const Call& call, int64_t first_token) {
    const int64_t tokens = call.kind == CallKind::step ? 1 : call.at(Argument::tokens);
    // A null pointer through which something would be read or written.
    const int64_t h_id = call.at(Argument::h_id);
    const int64_t out_id = call.at(Argument::out_id);
    const bool has_h = h_id < 0 || outputs_.contains(h_id);
    if (out_id >= 0) outputs_.erase(out_id);
    if (tokens < 0 || (tokens > 0 && !call.omit.empty()) || !has_h) {
      now_.refused = true;
    } else if (call.kind == CallKind::forward) {
      forward(first_token, tokens, h_id >= 0);
    } else {
      feed(at(call.at(Argument::layer)), first_token, tokens, h_id >= 0);
    }
    if (!now_.refused && out_id >= 0) outputs_.insert(out_id);
  }

  // What another call gave is known to the engine alone.
  void feed(LayerLife& layer, int64_t first_token, int64_t tokens, bool from_output) {
    if (!layer.ready()) {
      now_.refused = true;
      return;
    }
    layer.has_token = layer.has_token || tokens > 0;
    const bool unknown = from_output || (layer.bound && layer.is_bound_oddly);
    if (unknown && tokens > 0) layer.place.reset();
    if (!layer.place) return;
    Place& place = *layer.place;
    const bool other_weights =
        place.tokens > 0 && !(life_.sequences[place.sequence].weights == layer.weights());
    if (other_weights) {
      layer.place.reset();
      return;
    }
    now_.before = place;
    extend(place, layer.weights(), first_token, tokens);
    now_.before->sequence = place.sequence;
    now_.after = place;
  }

  void read(const Call& call, const LayerLife& layer) {
    const int64_t number = call.at(Argument::tensor);
    const int64_t capacity = call.at(Argument::capacity);
    now_.refused = number < 0 || number >= tensor_count;
    if (now_.refused || capacity == -2) return;
    const Tensor tensor = static_cast<Tensor>(number);
    const bool is_state = tensor == Tensor::S || tensor == Tensor::HIST;
    const bool too_small = capacity >= 0 && capacity < element_count(tensor, case_.shape);
    now_.refused = too_small || (!is_state && !layer.has_token);
  }

  // What reaches the second layer is the first one's output, which no case spells out.
  void forward(int64_t first_token, int64_t tokens, bool from_output) {
    const bool ready =
        std::all_of(layers_.begin(), layers_.end(), [](const LayerLife& l) { return l.ready(); });
    if (!ready) {
      now_.refused = true;
      return;
    }
    feed(layers_.front(), first_token, tokens, from_output);
    if (layers_.size() == 1) return;
    now_.before = now_.after = std::nullopt;
    for (size_t l = 1; l < layers_.size() && tokens > 0; ++l) {
      layers_[l].place.reset();
      layers_[l].has_token = true;
    }
  }

  // The header of six sizes, magic and version has 56 bytes, a number 4.
  void export_state(const Call& call, const LayerLife& layer) {
    const int64_t bytes = 56 + 4 * (case_.shape.state_count() + case_.shape.history_count());
    const int64_t capacity = call.at(Argument::capacity);
    now_.refused = capacity >= 0 && capacity < bytes;
    if (!now_.refused) exports_[call.at(Argument::id)] = layer.place;
  }

  void import(const Call& call, int64_t layer) {
    const auto found = exports_.find(call.at(Argument::id));
    now_.refused = found == exports_.end() || call.at(Argument::bytes) >= 0;
    if (now_.refused) return;
    at(layer).place = found->second;
    at(layer).has_token = false;
    forget_snapshots(layer);
  }

  void snapshot(const Call& call, int64_t layer) {
    Snapshot taken{std::max<int64_t>(0, layer), {}};
    const int64_t count = layer < 0 ? case_.shape.num_layers : 1;
    for (int64_t l = 0; l < count; ++l) taken.places.push_back(at(taken.first_layer + l).place);
    const int64_t id = call.at(Argument::id);
    snapshots_.emplace_back(id, std::move(taken));
  }

  void rollback(const Call& call) {
    const int64_t id = call.at(Argument::id);
    const auto found = std::find_if(snapshots_.rbegin(), snapshots_.rend(),
                                    [id](const auto& entry) { return entry.first == id; });
    now_.refused = found == snapshots_.rend();
    if (now_.refused) return;
    const Snapshot& taken = found->second;
    for (size_t l = 0; l < taken.places.size(); ++l) {
      LayerLife& layer = layers_[static_cast<size_t>(taken.first_layer) + l];
      layer.place = taken.places[l];
      layer.has_token = false;
    }
    snapshots_.erase(found.base(), snapshots_.end());
  }

  void forget_snapshots(int64_t layer) {
    std::erase_if(snapshots_, [layer](const auto& entry) {
      const auto count = static_cast<int64_t>(entry.second.places.size());
      return layer >= entry.second.first_layer && layer < entry.second.first_layer + count;
    });
  }

  const Case& case_;
  Life life_;
  CallLife now_;
  std::vector<LayerLife> layers_;
  std::map<int64_t, PoolEntry> pool_;
  int64_t pool_capacity_ = 0;
  std::map<int64_t, int64_t> buffers_;  // bytes of each
  std::map<int64_t, std::optional<Place>> exports_;
  std::set<int64_t> outputs_;  // the out_ids of calls that were served
  std::vector<std::pair<int64_t, Snapshot>> snapshots_;
};

}  // namespace

Life live(const Case& c) { return Model(c).run(); }

}  // namespace gdn
