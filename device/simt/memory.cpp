// Allocations by mapping: a guard of address space on both sides of each.
#include "device/simt/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <new>
#include <vector>

namespace gdn::simt {
namespace {

constexpr size_t page_bytes = 4096;
// An index that is wrong by less than the allocation's own size lands in its guard, up to 1 GiB.
constexpr size_t guard_bytes_min = 64 * 1024;
constexpr size_t guard_bytes_max = size_t{1} << 30;
// Beyond these the oldest released region is given back, and its address may be used again.
constexpr size_t released_max = 4096;

// Regions of no more than this many bytes in the middle are kept, guards and all, for the next
// allocation of their size on this operating system thread: most live for one run of a small case,
// and the calls of the system cost more than that. So many of a size at most.
constexpr size_t kept_bytes_max = 64 * 1024;
constexpr size_t kept_max = 256;

using Regions = std::vector<uint8_t*>;
Regions& kept_regions(size_t region_bytes) {
  static thread_local std::map<size_t, Regions> kept;
  return kept[region_bytes];
}

size_t whole_pages(size_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }

}  // namespace

bool Allocation::holds(const void* address, size_t count) const {
  const auto* const at = static_cast<const uint8_t*>(address);
  return at >= base && at <= base + bytes && count <= static_cast<size_t>(base + bytes - at);
}

std::string Allocation::place_of(const void* address) const {
  const std::ptrdiff_t offset = static_cast<const uint8_t*>(address) - base;
  return "byte " + std::to_string(offset) + " of allocation '" + name + "' (" +
         std::to_string(bytes) + " bytes)";
}

// Where accesses are checked, one to what was released is found; else it reads the poison.
bool Memory::is_kept(size_t middle_bytes) { return middle_bytes <= kept_bytes_max; }

Memory::~Memory() {
  for (const auto& [region, allocation] : by_region_) {
    const size_t guard = static_cast<size_t>(allocation.base - allocation.region);
    Regions& kept = kept_regions(allocation.region_bytes);
    if (is_kept(allocation.region_bytes - 2 * guard) && kept.size() < kept_max) {
      kept.push_back(allocation.region);
    } else {
      munmap(allocation.region, allocation.region_bytes);
    }
  }
}

// Address space with readable pages in its middle; nullptr where the system has no more.
uint8_t* Memory::new_region(size_t middle, size_t guard) {
  const size_t bytes = middle + 2 * guard;
  if (Regions& kept = kept_regions(bytes); is_kept(middle) && !kept.empty()) {
    uint8_t* const region = kept.back();
    kept.pop_back();
    return region;
  }
  void* const region =
      mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<uint8_t*>(region);
  if (mprotect(begin + guard, middle, PROT_READ | PROT_WRITE) == 0) return begin;
  munmap(region, bytes);
  return nullptr;
}

void* Memory::allocate(size_t bytes, std::string_view name) {
  if (bytes > SIZE_MAX / 128) return nullptr;
  const size_t middle = std::max(whole_pages(bytes), page_bytes);
  const size_t guard = std::clamp(middle, guard_bytes_min, guard_bytes_max);
  Allocation made;
  made.name = name;
  made.bytes = bytes;
  made.region_bytes = middle + 2 * guard;
  try {
    if (options_.checks) made.shadow = Shadow(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  made.region = new_region(middle, guard);
  if (made.region == nullptr) return nullptr;
  made.base = made.region + guard;
  if (bytes <= options_.poison_bytes_max) {
    fill(made.base, bytes, options_.poison);
  }
  // What an earlier allocation left behind the last byte, or in all.
  const size_t filled = bytes <= options_.poison_bytes_max ? bytes : 0;
  if (is_kept(middle)) std::memset(made.base + filled, 0, middle - filled);
  live_bytes_ += bytes;
  uint8_t* const base = made.base;
  by_region_.emplace(made.region, std::move(made));
  return base;
}

bool Memory::release(void* base) {
  Allocation* const found = find(base);
  if (found == nullptr || !found->live || found->base != base) return false;
  found->live = false;
  found->shadow = Shadow();
  live_bytes_ -= found->bytes;
  const size_t guard = static_cast<size_t>(found->base - found->region);
  if (const size_t middle = found->region_bytes - 2 * guard; is_kept(middle)) {
    fill(found->base, found->bytes, options_.poison);
  } else {
    // Mapping anew drops the pages, and leaves addresses that nothing else is given.
    mmap(found->region, found->region_bytes, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  }
  released_.push_back(found->region);
  if (released_.size() > released_max) {
    const auto oldest = by_region_.find(released_.front());
    munmap(oldest->second.region, oldest->second.region_bytes);
    by_region_.erase(oldest);
    released_.pop_front();
    last_found_ = nullptr;
  }
  return true;
}

Allocation* Memory::find(const void* address) {
  const auto* const at = static_cast<const uint8_t*>(address);
  const auto in = [at](const Allocation& a) {
    return at >= a.region && at < a.region + a.region_bytes;
  };
  if (last_found_ != nullptr && in(*last_found_)) return last_found_;
  auto after = by_region_.upper_bound(at);
  if (after == by_region_.begin()) return nullptr;
  Allocation& candidate = std::prev(after)->second;
  if (!in(candidate)) return nullptr;
  last_found_ = &candidate;
  return last_found_;
}

Allocation* Memory::find_live(const void* address, size_t count) {
  Allocation* const found = find(address);
  return found != nullptr && found->live && found->holds(address, count) ? found : nullptr;
}

void Memory::forget_accesses() {
  if (!options_.checks) return;
  for (auto& [region, allocation] : by_region_) {
    if (allocation.live) allocation.shadow.forget_accesses();
  }
}

void Memory::fill(void* at, size_t bytes, uint32_t pattern) {
  auto* const to = static_cast<uint8_t*>(at);
  size_t filled = std::min(bytes, sizeof pattern);
  std::memcpy(to, &pattern, filled);
  for (size_t more = 0; filled < bytes; filled += more) {
    more = std::min(filled, bytes - filled);
    std::memcpy(to + filled, to, more);
  }
}

}  // namespace gdn::simt
