// Memory through the caller's gate.
#include "device/host/memory.h"

#include <unistd.h>

#include <cinttypes>
#include <cstdlib>

namespace gdn::host {

Gate gate_of(const gdn_options& options) {
  return {.ask = options.allocation_gate, .context = options.allocation_context};
}

uint64_t physical_bytes() {
  static const uint64_t bytes =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

void* HostMemory::do_allocate(size_t bytes, size_t alignment) {
  // Linux grants more than there is and kills the process once it is touched.
  const bool possible = bytes <= physical_bytes() && alignment <= alignof(std::max_align_t);
  if (!possible || !gate_.grants(bytes)) {
    refuse(GDN_OUT_OF_MEMORY, "an allocation of %zu bytes on the host was refused", bytes);
  }
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) {
    // The gate granted what the system then refused; its books must close all the same.
    gate_.released(bytes);
    refuse(GDN_OUT_OF_MEMORY, "the host has no %zu bytes", bytes);
  }
  return memory;
}

void HostMemory::do_deallocate(void* memory, size_t bytes, size_t) {
  std::free(memory);
  gate_.released(bytes);
}

void* DeviceMemory::allocate(uint64_t bytes, Use use, const char* name) {
  if (!gate_.grants(bytes)) {
    refuse(GDN_OUT_OF_MEMORY, "%s: an allocation of %" PRIu64 " bytes was refused", name, bytes);
  }
  void* memory = nullptr;
  const Status status = backend_.allocate(bytes, use, name, &memory);
  if (!status.ok()) {
    gate_.released(bytes);
    throw Failed{status};
  }
  held_bytes_ += bytes;
  return memory;
}

void DeviceMemory::release(void* memory, uint64_t bytes) noexcept {
  // A device that cannot take memory back is lost, and the next call says so.
  static_cast<void>(backend_.release(memory));
  held_bytes_ -= bytes;
  gate_.released(bytes);
}

}  // namespace gdn::host
