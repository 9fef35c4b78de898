// Extents of shared memory, poisoned anew for every block.
#include "device/simt/shared_memory.h"

#include <algorithm>
#include <cstring>

#include "device/simt/memory.h"

namespace gdn::simt {
namespace {

constexpr size_t gap_bytes = 1024;
constexpr size_t alignment_bytes = 16;
constexpr size_t declarations_max = 64;
constexpr size_t kept_max = 3;

}  // namespace

SharedMemory::SharedMemory(const Options& options) : options_(options) {
  const size_t bytes = options.shared_bytes_max + (declarations_max + 1) * gap_bytes;
  std::vector<std::vector<uint8_t>>& kept = kept_arenas();
  if (!kept.empty() && kept.back().size() == bytes) {
    arena_ = std::move(kept.back());
    kept.pop_back();
  } else {
    arena_.resize(bytes);
  }
  if (options.checks) shadow_ = Shadow(arena_.size());
}

// The next one finds zeros in the gaps, as in a new arena.
SharedMemory::~SharedMemory() {
  if (kept_arenas().size() >= kept_max) return;
  std::memset(arena_.data(), 0, std::min(arena_.size(), touched_bytes_ + gap_bytes));
  kept_arenas().push_back(std::move(arena_));
}

// Most machines live for one run of a small case: their arenas are kept for the next ones on this
// operating system thread.
std::vector<std::vector<uint8_t>>& SharedMemory::kept_arenas() {
  static thread_local std::vector<std::vector<uint8_t>> kept;
  return kept;
}

void SharedMemory::begin_block(size_t dynamic_bytes) {
  extents_.clear();
  used_bytes_ = 0;
  add(nullptr, dynamic_bytes);
}

uint8_t* SharedMemory::declare(const void* key, size_t bytes) {
  for (const Extent& extent : extents_) {
    if (extent.key == key) return arena_.data() + extent.offset;
  }
  if (used_bytes_ + bytes > options_.shared_bytes_max || extents_.size() > declarations_max) {
    return nullptr;
  }
  return add(key, bytes);
}

uint8_t* SharedMemory::add(const void* key, size_t bytes) {
  size_t offset = 0;
  if (!extents_.empty()) {
    const size_t end = extents_.back().offset + extents_.back().bytes + gap_bytes - alignment_bytes;
    offset = (end + alignment_bytes - 1) / alignment_bytes * alignment_bytes;
  }
  extents_.push_back({key, offset, bytes});
  used_bytes_ += bytes;
  touched_bytes_ = std::max(touched_bytes_, offset + bytes);
  Memory::fill(arena_.data() + offset, bytes, options_.poison);
  if (options_.checks) shadow_.mark_written(offset, bytes, false);
  return arena_.data() + offset;
}

const SharedMemory::Extent* SharedMemory::find(const void* address, size_t count) const {
  const size_t offset = offset_of(address);
  for (const Extent& extent : extents_) {
    if (offset >= extent.offset && offset < extent.offset + extent.bytes &&
        count <= extent.offset + extent.bytes - offset) {
      return &extent;
    }
  }
  return nullptr;
}

// Of an address below the arena, a number beyond every extent.
size_t SharedMemory::offset_of(const void* address) const {
  return reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(arena_.data());
}

std::string SharedMemory::place_of(const void* address) const {
  const size_t offset = offset_of(address);
  if (offset > arena_.size()) return "an address outside shared memory";
  const Extent* below = &extents_.front();
  for (const Extent& extent : extents_) {
    if (extent.offset <= offset) below = &extent;
  }
  return "byte " + std::to_string(offset - below->offset) +
         (below->key == nullptr ? " of the dynamic shared memory (" : " of a shared array (") +
         std::to_string(below->bytes) + " bytes)";
}

}  // namespace gdn::simt
