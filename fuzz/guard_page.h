// Memory that ends where a page begins which nobody may touch: one byte too far stops the program,
// with or without a sanitizer.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <span>
#include <vector>

namespace gdn {

class GuardedBytes {
 public:
  explicit GuardedBytes(size_t count) : count_(count) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    mapped_ = (count + page - 1) / page * page + page;
    std::vector<uint8_t*>& idle = idle_of(mapped_);
    if (idle.empty()) {
      begin_ = mapped(mapped_, page);
    } else {
      begin_ = idle.back();
      idle.pop_back();
    }
    data_ = begin_ + mapped_ - page - count;
  }
  explicit GuardedBytes(std::span<const uint8_t> content) : GuardedBytes(content.size()) {
    if (!content.empty()) std::memcpy(data_, content.data(), content.size());
  }
  ~GuardedBytes() {
    std::vector<uint8_t*>& idle = idle_of(mapped_);
    constexpr size_t idle_max = 64;
    if (idle.size() < idle_max) {
      idle.push_back(begin_);
    } else {
      munmap(begin_, mapped_);
    }
  }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;

  uint8_t* data() { return data_; }
  std::span<const uint8_t> bytes() const { return {data_, count_}; }

 private:
  static uint8_t* mapped(size_t bytes, size_t page) {
    void* const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    uint8_t* const begin = static_cast<uint8_t*>(memory);
    if (mprotect(begin + bytes - page, page, PROT_NONE) != 0) std::abort();
    return begin;
  }
  // Mappings that were used before, by their size: making one takes longer than most runs.
  static std::vector<uint8_t*>& idle_of(size_t bytes) {
    static std::map<size_t, std::vector<uint8_t*>> all;
    return all[bytes];
  }

  uint8_t* begin_ = nullptr;
  uint8_t* data_ = nullptr;
  size_t count_;
  size_t mapped_ = 0;
};

}  // namespace gdn
