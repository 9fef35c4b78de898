// All memory of a twin comes through one Memory, which asks the caller's gate before each
// allocation, tells it of each release, and writes the poison pattern over fresh bytes and over
// those that are given back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <new>
#include <type_traits>
#include <utility>

#include "device/gdn.h"

namespace gdn::twin {

// What options say of memory.
struct Gate {
  int (*ask)(void* context, uint64_t bytes, int release) = nullptr;
  void* context = nullptr;
  bool fill = false;
  uint32_t fill_pattern = 0;
};
Gate gate_of(const gdn_options& options);

// nullptr where the gate or the system refuses.
void* allocate_through(const Gate& gate, size_t bytes) noexcept;
void release_through(const Gate& gate, void* memory, size_t bytes) noexcept;

class Memory final : public std::pmr::memory_resource {
 public:
  explicit Memory(const Gate& gate) : gate_(gate) {}
  uint64_t refused_bytes() const { return refused_bytes_; }  // size of the last refusal

 private:
  void* do_allocate(size_t bytes, size_t alignment) override;  // throws std::bad_alloc
  void do_deallocate(void* memory, size_t bytes, size_t alignment) override;
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  Gate gate_;
  uint64_t held_bytes_ = 0;
  uint64_t refused_bytes_ = 0;
};

// An owned array that is left as allocated, so that poison shows what nobody has written.
template <class T>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Array() = default;
  Array(Memory& memory, int64_t count) : memory_(&memory), count_(count) {
    constexpr auto count_max = std::numeric_limits<int64_t>::max() / int64_t{sizeof(T)};
    if (count < 0 || count > count_max) throw std::bad_alloc();
    if (count > 0) data_ = static_cast<T*>(memory.allocate(bytes(), alignof(T)));
  }
  Array(Array&& other) noexcept { swap(other); }
  Array& operator=(Array&& other) noexcept {
    Array taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~Array() {
    if (data_ != nullptr) memory_->deallocate(data_, bytes(), alignof(T));
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  int64_t count() const { return count_; }
  size_t bytes() const { return static_cast<size_t>(count_) * sizeof(T); }

 private:
  void swap(Array& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
  }

  Memory* memory_ = nullptr;
  T* data_ = nullptr;
  int64_t count_ = 0;
};

}  // namespace gdn::twin
