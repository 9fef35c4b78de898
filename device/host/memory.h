// All memory of an engine, of the host and of the device, asks the caller's gate before it is
// allocated and tells it when it is released. What the driver or the simulator keeps for itself
// (contexts, recorded graphs, stacks of simulated threads) is not the engine's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <utility>

#include "device/gdn.h"
#include "device/host/backend.h"

namespace gdn::host {

struct Gate {
  int (*ask)(void* context, uint64_t bytes, int release) = nullptr;
  void* context = nullptr;

  bool grants(uint64_t bytes) const { return ask == nullptr || ask(context, bytes, 0) == 0; }
  void released(uint64_t bytes) const {
    if (ask != nullptr) ask(context, bytes, 1);
  }
};
Gate gate_of(const gdn_options& options);

// Of the machine that this program runs on.
uint64_t physical_bytes();

// For the engine's tables. Throws Failed where the gate or the system refuses.
class HostMemory final : public std::pmr::memory_resource {
 public:
  explicit HostMemory(const Gate& gate) : gate_(gate) {}

 private:
  void* do_allocate(size_t bytes, size_t alignment) override;
  void do_deallocate(void* memory, size_t bytes, size_t alignment) override;
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  Gate gate_;
};

class DeviceMemory {
 public:
  DeviceMemory(const Gate& gate, Backend& backend) : gate_(gate), backend_(backend) {}

  void* allocate(uint64_t bytes, Use use, const char* name);  // throws Failed
  void release(void* memory, uint64_t bytes) noexcept;
  Backend& backend() { return backend_; }
  uint64_t held_bytes() const { return held_bytes_; }

 private:
  Gate gate_;
  Backend& backend_;
  uint64_t held_bytes_ = 0;
};

// Owned device memory; `data` is a device address. Left as allocated.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(DeviceMemory& memory, int64_t count, const char* name, Use use = Use::whole)
      : memory_(&memory), count_(count) {
    if (count < 0 || count > INT64_MAX / int64_t{sizeof(T)}) {
      refuse(GDN_OUT_OF_MEMORY, "%s: the size overflows 64 bits", name);
    }
    if (count > 0) data_ = static_cast<T*>(memory.allocate(bytes(), use, name));
  }
  // With a copy of `count` host values.
  DeviceArray(DeviceMemory& memory, const T* values, int64_t count, const char* name)
      : DeviceArray(memory, count, name) {
    must(memory.backend().write(data_, values, bytes()));
  }
  DeviceArray(DeviceArray&& other) noexcept { swap(other); }
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    DeviceArray taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~DeviceArray() {
    if (data_ != nullptr) memory_->release(data_, bytes());
  }

  T* data() const { return data_; }
  int64_t count() const { return count_; }
  uint64_t bytes() const { return static_cast<uint64_t>(count_) * sizeof(T); }
  bool present() const { return data_ != nullptr; }

 private:
  void swap(DeviceArray& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
  }

  DeviceMemory* memory_ = nullptr;
  T* data_ = nullptr;
  int64_t count_ = 0;
};

}  // namespace gdn::host
