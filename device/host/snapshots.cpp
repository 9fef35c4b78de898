// Snapshots of S and HIST, kept on the device, and rolling back to them.
#include <cinttypes>

#include "device/host/engine.h"
#include "device/host/undo.h"

namespace gdn::host {
namespace {

// S, then HIST, of the layer whose place in the snapshot begins at `kept`.
Status copy_state(Backend& backend, const LayerState& state, float* kept, bool out) {
  const DeviceArray<float>* const arrays[] = {&state.S, &state.history};
  for (const DeviceArray<float>* array : arrays) {
    if (!array->present()) continue;
    const Status status = out ? backend.copy(kept, array->data(), array->bytes())
                              : backend.copy(array->data(), kept, array->bytes());
    if (!status.ok()) return status;
    kept += array->count();
  }
  return {};
}

}  // namespace

void Engine::drop_snapshots_of(LayerRange range) {
  snapshots_.remove_if([range](const Snapshot& s) {
    return s.first_layer < range.end() && range.first < s.first_layer + s.layer_count;
  });
}

void Engine::snapshot(int64_t layer_or_all, uint64_t* id) {
  const LayerRange range = range_of(layer_or_all);
  if (id == nullptr) refuse(GDN_INVALID_ARGUMENT, "id is null");
  if (snapshots_max_ == 0) {
    refuse(GDN_UNSUPPORTED, "the engine was opened with snapshots = 0");
  }
  const int64_t floats = sizes_.state_floats();
  DeviceArray<float> values(device_, floats * range.count, "snapshot");
  for (int64_t i = 0; i < range.count; ++i) {
    float* const kept = values.data() + i * floats;
    must(copy_state(*backend_, layer(range.first + i).now, kept, true));
  }
  must(backend_->synchronise());
  snapshots_.push_back({next_snapshot_, range.first, range.count, std::move(values)});
  if (static_cast<int64_t>(snapshots_.size()) > snapshots_max_) snapshots_.pop_front();
  *id = next_snapshot_++;
}

void Engine::rollback(uint64_t id) {
  auto found = snapshots_.begin();
  while (found != snapshots_.end() && found->id != id) ++found;
  if (found == snapshots_.end()) {
    refuse(GDN_NOT_FOUND, "snapshot %" PRIu64 " is not held", id);
  }
  const LayerRange range = {found->first_layer, found->layer_count};
  Undo undo(*this, range);
  for (int64_t i = 0; i < range.count; ++i) {
    float* const kept = found->values.data() + i * sizes_.state_floats();
    must(copy_state(*backend_, layer(range.first + i).now, kept, false));
  }
  must(backend_->synchronise());
  undo.keep();
  for (int64_t l = range.first; l < range.end(); ++l) layer(l).now.has_token = false;
  snapshots_.erase(std::next(found), snapshots_.end());
}

}  // namespace gdn::host
