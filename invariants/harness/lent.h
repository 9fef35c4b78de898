// Arrays that an engine is handed. They come from malloc, so that a sanitizer knows where each of
// them ends even in a program whose operator new is not the sanitizer's.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

namespace gdn {

template <class T>
struct LentAllocator {
  using value_type = T;
  LentAllocator() = default;
  template <class U>
  LentAllocator(const LentAllocator<U>&) {}

  T* allocate(size_t count) {
    if (count > static_cast<size_t>(-1) / sizeof(T)) throw std::bad_alloc();
    void* const memory = std::malloc(count * sizeof(T));
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t) { std::free(memory); }
  friend bool operator==(const LentAllocator&, const LentAllocator&) { return true; }
};

template <class T>
using Lent = std::vector<T, LentAllocator<T>>;

}  // namespace gdn
