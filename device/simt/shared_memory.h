// The shared memory of the running block: dynamic memory first, then each static array as the
// first thread comes to its declaration, with gaps between them that belong to nobody.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "device/simt/options.h"
#include "device/simt/shadow.h"

namespace gdn::simt {

class SharedMemory {
 public:
  struct Extent {
    const void* key = nullptr;  // one address a declaration; nullptr: the dynamic memory
    size_t offset = 0;
    size_t bytes = 0;
  };

  explicit SharedMemory(const Options& options);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  void begin_block(size_t dynamic_bytes);  // at most shared_bytes_max
  uint8_t* dynamic() { return arena_.data(); }
  // nullptr where the block would hold more than shared_bytes_max.
  uint8_t* declare(const void* key, size_t bytes);

  // The extent that holds all the bytes, or nullptr.
  const Extent* find(const void* address, size_t count) const;
  size_t offset_of(const void* address) const;
  std::string place_of(const void* address) const;
  Shadow& shadow() { return shadow_; }

 private:
  uint8_t* add(const void* key, size_t bytes);
  static std::vector<std::vector<uint8_t>>& kept_arenas();

  const Options& options_;
  std::vector<uint8_t> arena_;
  std::vector<Extent> extents_;  // rising
  size_t used_bytes_ = 0;        // without gaps
  size_t touched_bytes_ = 0;     // of the arena, by any block so far
  Shadow shadow_;
};

}  // namespace gdn::simt
