// A device under the engine's host code that counts what is asked of it, refuses the n-th request,
// and can spoil the parameters or the shape of a launch. All else it passes on to a device of its
// own, a simulated one with all checks unless told otherwise.
#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "device/engines/simt.h"
#include "device/host/api.h"

namespace gdn::testing {

// What the watched device does; one for all, as an engine opens its device through a plain
// function.
struct Watch {
  host::MakeBackend device = host::make_simt_checked;
  uint64_t requests = 0;
  uint64_t refuse_at = 0;  // the one to refuse, counted from 1; 0: none
  gdn_status refuse_with = GDN_INTERNAL;
  uint64_t captures = 0;
  uint64_t launches = 0;  // outside graphs and while they are recorded
  uint64_t replays = 0;
  std::map<void*, uint64_t> bytes_of;  // of each allocation
  bool lost = false;
  bool atomic_replays = false;
  std::function<void(host::KernelId, LaunchShape&, void* params)> spoil;

  uint64_t device_bytes() const {
    uint64_t sum = 0;
    for (const auto& [memory, bytes] : bytes_of) sum += bytes;
    return sum;
  }
  // From here on, refuse the n-th request.
  void arm(uint64_t n) {
    requests = 0;
    refuse_at = n;
  }
};

inline Watch& watch() {
  static Watch watch;
  return watch;
}

class WatchedBackend final : public host::Backend {
 public:
  using Status = host::Status;
  explicit WatchedBackend(std::unique_ptr<Backend> device) : device_(std::move(device)) {}

  Status allocate(uint64_t bytes, host::Use use, const char* name, void** memory) override {
    Status status = asked("allocate");
    if (status.ok()) status = device_->allocate(bytes, use, name, memory);
    if (status.ok()) watch().bytes_of[*memory] = bytes;
    return status;
  }
  Status release(void* memory) override {
    watch().bytes_of.erase(memory);
    return device_->release(memory);
  }
  Status write(void* to, const void* from_host, uint64_t bytes) override {
    const Status status = asked("write");
    return status.ok() ? device_->write(to, from_host, bytes) : status;
  }
  Status read(void* to_host, const void* from, uint64_t bytes) override {
    const Status status = asked("read");
    return status.ok() ? device_->read(to_host, from, bytes) : status;
  }
  Status copy(void* to, const void* from, uint64_t bytes) override {
    const Status status = asked("copy");
    return status.ok() ? device_->copy(to, from, bytes) : status;
  }
  Status zero(void* to, uint64_t bytes) override {
    const Status status = asked("zero");
    return status.ok() ? device_->zero(to, bytes) : status;
  }
  Status launch(host::KernelId kernel, const LaunchShape& shape, const void* params,
                size_t params_bytes) override {
    const Status status = asked("launch");
    if (!status.ok()) return status;
    ++watch().launches;
    LaunchShape other = shape;
    std::vector<uint64_t> words(params_bytes / 8 + 1);
    std::memcpy(words.data(), params, params_bytes);
    if (watch().spoil) watch().spoil(kernel, other, words.data());
    return device_->launch(kernel, other, words.data(), params_bytes);
  }
  Status synchronise() override {
    const Status status = asked("synchronise");
    return status.ok() ? device_->synchronise() : status;
  }
  Status begin_capture() override {
    const Status status = asked("begin_capture");
    return status.ok() ? device_->begin_capture() : status;
  }
  Status end_capture(std::unique_ptr<host::Graph>* graph) override {
    const Status ended = device_->end_capture(graph);
    const Status status = asked("end_capture");
    if (!status.ok()) graph->reset();
    if (status.ok()) ++watch().captures;
    return status.ok() ? ended : status;
  }
  Status replay(const host::Graph& graph) override {
    const Status status = asked("replay");
    if (!status.ok()) return status;
    ++watch().replays;
    return device_->replay(graph);
  }
  bool replay_is_atomic() const override { return watch().atomic_replays; }

 private:
  static Status asked(const char* what) {
    if (watch().lost) return host::failure(GDN_LOST, "%s: the watched device is lost", what);
    if (++watch().requests != watch().refuse_at) return {};
    watch().lost = watch().refuse_with == GDN_LOST;
    return host::failure(watch().refuse_with, "%s was refused by the watched device", what);
  }

  std::unique_ptr<Backend> device_;
};

inline host::Status make_watched(const host::BackendOptions& options,
                                 std::unique_ptr<host::Backend>* backend) {
  std::unique_ptr<host::Backend> device;
  const host::Status made = watch().device(options, &device);
  if (made.ok()) *backend = std::make_unique<WatchedBackend>(std::move(device));
  return made;
}

inline constexpr char watched_name[] = "watched";
inline const gdn_api& watched_api() { return host::host_engine<watched_name, make_watched>(); }

}  // namespace gdn::testing
