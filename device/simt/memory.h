// The simulated device memory: allocations far apart, so that an access outside one does not reach
// another, and remembered after their release, so that a later access is known for what it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "device/simt/options.h"
#include "device/simt/shadow.h"

namespace gdn::simt {

struct Allocation {
  std::string name;
  uint8_t* region = nullptr;  // guard, memory, guard; address space alone for the guards
  size_t region_bytes = 0;
  uint8_t* base = nullptr;
  size_t bytes = 0;
  bool live = true;
  Shadow shadow;  // with checks only

  bool holds(const void* address, size_t count) const;
  size_t offset_of(const void* address) const {
    return static_cast<size_t>(static_cast<const uint8_t*>(address) - base);
  }
  // "byte 512 of allocation 'x' (512 bytes)".
  std::string place_of(const void* address) const;
};

class Memory {
 public:
  explicit Memory(const Options& options) : options_(options) {}
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Aligned to 4096, poisoned; nullptr where the system has no more. 0 bytes is an allocation.
  void* allocate(size_t bytes, std::string_view name);
  bool release(void* base);  // false: no live allocation starts there
  // The allocation in whose region, guards included, the address lies; it may be released.
  Allocation* find(const void* address);
  // Its live allocation if it holds all the bytes, else nullptr.
  Allocation* find_live(const void* address, size_t count);
  size_t live_count() const { return by_region_.size() - released_.size(); }
  size_t live_bytes() const { return live_bytes_; }
  void forget_accesses();

  static void fill(void* at, size_t bytes, uint32_t pattern);

 private:
  static bool is_kept(size_t middle_bytes);
  uint8_t* new_region(size_t middle, size_t guard);

  const Options& options_;
  std::map<const uint8_t*, Allocation> by_region_;
  std::deque<const uint8_t*> released_;  // oldest first
  Allocation* last_found_ = nullptr;
  size_t live_bytes_ = 0;
};

}  // namespace gdn::simt
