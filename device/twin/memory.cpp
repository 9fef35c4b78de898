// Memory through the caller's gate.
#include "device/twin/memory.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace gdn::twin {
namespace {

// Linux grants more than there is and kills the process once it is touched, so what cannot fit
// into the machine is refused here.
uint64_t physical_bytes() {
  static const uint64_t bytes =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

void fill_with(uint32_t pattern, void* memory, size_t bytes) {
  auto* at = static_cast<unsigned char*>(memory);
  size_t filled = std::min(sizeof pattern, bytes);
  std::memcpy(at, &pattern, filled);
  // What is filled goes behind itself, twice as much each time.
  for (; filled < bytes; filled *= 2)
    std::memcpy(at + filled, at, std::min(filled, bytes - filled));
}

}  // namespace

Gate gate_of(const gdn_options& options) {
  return {.ask = options.allocation_gate,
          .context = options.allocation_context,
          .fill = options.fill != 0,
          .fill_pattern = options.fill_pattern};
}

void* allocate_through(const Gate& gate, size_t bytes) noexcept {
  if (bytes > physical_bytes()) return nullptr;
  if (gate.ask != nullptr && gate.ask(gate.context, bytes, 0) != 0) return nullptr;
  void* memory = std::malloc(bytes);
  if (memory == nullptr) {
    // The gate granted what the system then refused; its books must close all the same.
    if (gate.ask != nullptr) gate.ask(gate.context, bytes, 1);
    return nullptr;
  }
  if (gate.fill) fill_with(gate.fill_pattern, memory, bytes);
  return memory;
}

void release_through(const Gate& gate, void* memory, size_t bytes) noexcept {
  if (gate.fill) {
    fill_with(gate.fill_pattern, memory, bytes);
    // Else a compiler leaves the writes out: it knows that nobody may read them.
    asm volatile("" : : "r"(memory) : "memory");
  }
  std::free(memory);
  if (gate.ask != nullptr) gate.ask(gate.context, bytes, 1);
}

void* Memory::do_allocate(size_t bytes, size_t alignment) {
  const bool fits = bytes <= physical_bytes() && held_bytes_ <= physical_bytes() - bytes;
  const bool aligned = alignment <= alignof(std::max_align_t);
  void* memory = fits && aligned ? allocate_through(gate_, bytes) : nullptr;
  if (memory == nullptr) {
    refused_bytes_ = bytes;
    throw std::bad_alloc();
  }
  held_bytes_ += bytes;
  return memory;
}

void Memory::do_deallocate(void* memory, size_t bytes, size_t) {
  held_bytes_ -= bytes;
  release_through(gate_, memory, bytes);
}

}  // namespace gdn::twin
