// Copies within the device, before the call and, where it failed, after it.
#include "device/host/undo.h"

namespace gdn::host {
namespace {

template <class T>
Status copy_array(Backend& backend, const DeviceArray<T>& to, const DeviceArray<T>& from) {
  return from.present() ? backend.copy(to.data(), from.data(), from.bytes()) : Status{};
}

}  // namespace

Undo::Undo(Engine& engine, LayerRange range, Copy copy)
    : engine_(engine), range_(range), copied_(copy == Copy::made) {
  if (copied_) must(copy_all(&Layer::before, &Layer::now));
}

Undo::~Undo() {
  if (kept_) return;
  bool is_as_before = !changed_;
  if (copied_) {
    Status back = copy_all(&Layer::now, &Layer::before);
    if (back.ok()) back = engine_.backend_->synchronise();
    is_as_before = back.ok();
  }
  // Else nobody can say any more what the state is.
  if (!is_as_before) engine_.is_lost_ = true;
}

Status Undo::copy_all(LayerState Layer::*to, LayerState Layer::*from) noexcept {
  Backend& backend = *engine_.backend_;
  for (int64_t l = range_.first; l < range_.end(); ++l) {
    LayerState& target = engine_.layer(l).*to;
    const LayerState& source = engine_.layer(l).*from;
    Status status = copy_array(backend, target.S, source.S);
    if (status.ok()) status = copy_array(backend, target.history, source.history);
    if (status.ok() && source.has_token)
      status = TokenTensors::copy(backend, target.tensors, source.tensors);
    if (!status.ok()) return status;
    target.has_token = source.has_token;
  }
  return {};
}

}  // namespace gdn::host
