// Memory that ends where a page begins which nobody may touch: one byte too far stops the program,
// with or without a sanitizer.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

namespace gdn {

class GuardedBytes {
 public:
  explicit GuardedBytes(size_t count) : count_(count) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    mapped_ = (count + page - 1) / page * page + page;
    void* const memory =
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    begin_ = static_cast<uint8_t*>(memory);
    if (mprotect(begin_ + mapped_ - page, page, PROT_NONE) != 0) std::abort();
    data_ = begin_ + mapped_ - page - count;
  }
  explicit GuardedBytes(std::span<const uint8_t> content) : GuardedBytes(content.size()) {
    if (!content.empty()) std::memcpy(data_, content.data(), content.size());
  }
  ~GuardedBytes() { munmap(begin_, mapped_); }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;

  uint8_t* data() { return data_; }
  std::span<const uint8_t> bytes() const { return {data_, count_}; }

 private:
  uint8_t* begin_ = nullptr;
  uint8_t* data_ = nullptr;
  size_t count_;
  size_t mapped_ = 0;
};

}  // namespace gdn
