// The model of what an engine keeps beside its layers: pool and bindings, exports, snapshots,
// buffers.
#include <algorithm>

#include "invariants/harness/life.h"
#include "reference/formats.h"

namespace gdn {
namespace {

// What a call asks a machine for beyond all numbers that a valid case needs.
constexpr int64_t huge_bytes = 4 * elements_max;

}  // namespace

void LifeModel::memory(const Call& call) {
  switch (call.kind) {
    case CallKind::pool_init:
      pool_capacity_ = call.at(Argument::bytes) >= 0 ? call.at(Argument::bytes) : whole_pool();
      now_.is_huge = pool_capacity_ > huge_bytes;
      return clear_pool();
    case CallKind::pool_clear:
      return clear_pool();
    case CallKind::pool_put:
      return put(call);
    case CallKind::pool_get:
      return get(call);
    case CallKind::bind_q4:
      return bind(call, at(call.at(Argument::layer)));
    default:
      return buffer(call);
  }
}

void LifeModel::clear_pool() {
  pool_.clear();
  for (LayerLife& layer : layers_) layer.bound.reset();
}

MatrixUsed LifeModel::own_matrix(int64_t weights, int64_t matrix) const {
  const Shape& s = case_->shape;
  const int64_t rows[] = {s.conv_dim(), s.v_dim(), s.hidden_size};
  const int64_t cols[] = {s.hidden_size, s.hidden_size, s.v_dim()};
  return {weights, matrix, rows[matrix], cols[matrix]};
}

int64_t LifeModel::whole_pool() const {
  int64_t bytes = 0;
  for (int64_t matrix = 0; matrix < 3; ++matrix) bytes += own_matrix(0, matrix).bytes();
  return case_->weights == Weights::q4 ? bytes * case_->shape.num_layers : 0;
}

int64_t LifeModel::key_of(const Call& call) const {
  const int64_t given = call.at(Argument::key);
  return given >= 0
             ? given
             : own_key(std::max<int64_t>(0, call.at(Argument::weights)), call.at(Argument::matrix));
}

void LifeModel::put(const Call& call) {
  MatrixUsed entry =
      own_matrix(std::max<int64_t>(0, call.at(Argument::weights)), call.at(Argument::matrix));
  if (call.at(Argument::rows) != -1) entry.rows = call.at(Argument::rows);
  if (call.at(Argument::cols) != -1) entry.cols = call.at(Argument::cols);
  int64_t used = 0;
  for (const auto& [key, other] : pool_) used += other.bytes();
  now_.refused = call.omit.contains("tiles") || !why_not_q4_tile(entry.rows, entry.cols).empty() ||
                 entry.rows > elements_max / entry.cols || entry.bytes() > pool_capacity_ - used ||
                 !pool_.emplace(key_of(call), entry).second;
}

void LifeModel::get(const Call& call) {
  const auto found = pool_.find(key_of(call));
  const int64_t capacity = call.at(Argument::capacity);
  now_.refused = found == pool_.end() || (capacity >= 0 && capacity < found->second.bytes());
}

void LifeModel::bind(const Call& call, LayerLife& layer) {
  const int64_t own = call.at(Argument::layer);
  const Argument arguments[] = {Argument::key_qkv, Argument::key_z, Argument::key_out};
  std::array<MatrixUsed, 3> wanted;
  for (size_t matrix = 0; matrix < 3; ++matrix) {
    const auto which = static_cast<int64_t>(matrix);
    const int64_t given = call.at(arguments[matrix]);
    const auto found = pool_.find(given >= 0 ? given : own_key(own, which));
    const MatrixUsed right = own_matrix(own, which);
    const bool fits = found != pool_.end() && found->second.rows == right.rows &&
                      found->second.cols == right.cols;
    if (!fits) {
      now_.refused = true;
      return;
    }
    wanted[matrix] = found->second;
  }
  now_.refused = !layer.loaded || layer.has_f32;
  if (!now_.refused) layer.bound = wanted;
}

// The header of six sizes, magic and version has 56 bytes, a number 4.
int64_t LifeModel::exported_bytes() const {
  return 56 + 4 * (case_->shape.state_count() + case_->shape.history_count());
}

void LifeModel::export_state(const Call& call, const LayerLife& layer) {
  const int64_t capacity = call.at(Argument::capacity);
  now_.refused = capacity >= 0 && capacity < exported_bytes();
  if (!now_.refused && capacity != -2) exports_[call.at(Argument::id)] = layer.place;
}

void LifeModel::import_state(const Call& call, int64_t layer) {
  const auto found = exports_.find(call.at(Argument::id));
  // Bytes beyond what a case can hold are not added, so the state comes as it was exported.
  const int64_t given = call.at(Argument::bytes);
  const bool resized = given >= 0 && given <= elements_max && given != exported_bytes();
  now_.refused = found == exports_.end() || resized || call.omit.contains("src");
  if (now_.refused) return;
  at(layer).place = found->second;
  at(layer).has_token = false;
  forget_snapshots(layer);
}

void LifeModel::snapshot(const Call& call, int64_t layer) {
  now_.refused = call.omit.contains("id") || snapshots_max_ == 0;
  if (now_.refused) return;
  Snapshot taken{next_serial_++, static_cast<size_t>(std::max<int64_t>(0, layer)), {}};
  const size_t count = layer < 0 ? layers_.size() : 1;
  for (size_t l = 0; l < count; ++l) taken.places.push_back(layers_[taken.first_layer + l].place);
  serials_[call.at(Argument::id)] = taken.serial;
  snapshots_.push_back(std::move(taken));
  if (static_cast<int64_t>(snapshots_.size()) > snapshots_max_) {
    snapshots_.erase(snapshots_.begin());
  }
}

std::map<int64_t, uint64_t> LifeModel::snapshot_ids() const {
  std::map<int64_t, uint64_t> held = serials_;
  std::erase_if(held, [this](const auto& named) {
    return std::none_of(snapshots_.begin(), snapshots_.end(),
                        [&named](const Snapshot& s) { return s.serial == named.second; });
  });
  return held;
}

void LifeModel::rollback(const Call& call) {
  const auto serial = serials_.find(call.at(Argument::id));
  const auto found =
      std::find_if(snapshots_.begin(), snapshots_.end(), [&](const Snapshot& snapshot) {
        return serial != serials_.end() && snapshot.serial == serial->second;
      });
  now_.refused = found == snapshots_.end();
  if (now_.refused) return;
  for (size_t l = 0; l < found->places.size(); ++l) {
    LayerLife& layer = layers_[found->first_layer + l];
    layer.place = found->places[l];
    layer.has_token = false;
  }
  snapshots_.erase(std::next(found), snapshots_.end());
}

void LifeModel::forget_snapshots(int64_t layer) {
  const auto which = static_cast<size_t>(layer);
  std::erase_if(snapshots_, [which](const Snapshot& s) {
    return which >= s.first_layer && which < s.first_layer + s.places.size();
  });
}

void LifeModel::buffer(const Call& call) {
  const int64_t which = call.at(Argument::buffer);
  const int64_t bytes = std::max<int64_t>(0, call.at(Argument::bytes));
  const auto found = buffers_.find(which);
  if (call.kind == CallKind::buffer_create) {
    buffers_[which] = bytes;
    now_.is_huge = bytes > huge_bytes;
    return;
  }
  now_.refused = found == buffers_.end();
  if (call.kind == CallKind::buffer_release) {
    if (!now_.refused) buffers_.erase(found);
    return;
  }
  const int64_t offset = call.at(Argument::offset);
  now_.refused =
      now_.refused || bytes > elements_max || bytes > found->second ||
      offset > found->second - bytes ||
      (bytes > 0 && call.omit.contains(call.kind == CallKind::buffer_write ? "src" : "dst"));
}

}  // namespace gdn
