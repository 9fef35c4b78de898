// Bits of written bytes, and words that are split into bytes.
#include "device/simt/shadow.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <vector>

namespace gdn::simt {
namespace {

// Zeroing more than this takes longer than mapping it anew.
constexpr size_t kept_bytes_max = 256 * 1024;
constexpr size_t kept_max = 64;  // of each size

// Sizes are powers of two. Freed with the thread.
struct Kept {
  std::map<size_t, std::vector<void*>> by_size;
  Kept() = default;
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  ~Kept() {
    for (const auto& [size, all] : by_size) {
      for (void* const one : all) std::free(one);
    }
  }
};

std::vector<void*>& kept(size_t size) {
  static thread_local Kept all;
  return all.by_size[size];
}

size_t size_of(size_t bytes) { return std::bit_ceil(std::max<size_t>(bytes, 64)); }

}  // namespace

ZeroedBytes::ZeroedBytes(size_t bytes) : bytes_(bytes) {
  if (bytes <= kept_bytes_max) {
    std::vector<void*>& ready = kept(size_of(bytes));
    if (!ready.empty()) {
      data_ = ready.back();
      ready.pop_back();
    } else {
      data_ = std::calloc(1, size_of(bytes));
    }
    if (data_ == nullptr) throw std::bad_alloc();
    return;
  }
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  data_ = at;
}

ZeroedBytes::~ZeroedBytes() {
  if (data_ == nullptr) return;
  if (bytes_ > kept_bytes_max) {
    munmap(data_, bytes_);
    return;
  }
  std::vector<void*>& ready = kept(size_of(bytes_));
  if (ready.size() >= kept_max) {
    std::free(data_);
    return;
  }
  std::memset(data_, 0, bytes_);
  ready.push_back(data_);
}

void ZeroedBytes::clear() {
  if (bytes_ > kept_bytes_max) {
    madvise(data_, bytes_, MADV_DONTNEED);
  } else if (data_ != nullptr) {
    std::memset(data_, 0, bytes_);
  }
}

void Shadow::mark_written(size_t begin, size_t count, bool written) {
  const size_t end = begin + count;
  const auto mark = [&](size_t i) {
    const auto bit = static_cast<uint8_t>(1U << (i % 8));
    written_[i / 8] =
        static_cast<uint8_t>(written ? written_[i / 8] | bit : written_[i / 8] & ~bit);
  };
  size_t at = begin;
  for (; at < end && at % 8 != 0; ++at) mark(at);
  const size_t whole_bytes = (end - at) / 8;
  if (whole_bytes > 0) std::memset(&written_[at / 8], written ? 0xff : 0, whole_bytes);
  for (at += whole_bytes * 8; at < end; ++at) mark(at);
}

void Shadow::copy_written(size_t begin, const Shadow& from, size_t from_begin, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const size_t source = from_begin + i;
    mark_written(begin + i, 1, (from.written_[source / 8] >> (source % 8) & 1) != 0);
  }
}

bool Shadow::all_written(size_t begin, unsigned count) const {
  uint32_t bits = 0;
  for (unsigned i = 0; i < 3; ++i)
    bits |= static_cast<uint32_t>(written_[begin / 8 + i]) << (8 * i);
  const uint32_t wanted = (1U << count) - 1;
  return (bits >> (begin % 8) & wanted) == wanted;
}

bool Shadow::run_wrote(size_t begin, unsigned count, uint32_t first_run) {
  for (size_t at = begin; at < begin + count; ++at) {
    const Cell& word = words_[at / 4];
    if ((word.split ? bytes_[at] : word).writer.run >= first_run) return true;
  }
  return false;
}

void Shadow::forget_accesses() {
  words_.clear();
  bytes_.clear();
}

void Shadow::split(size_t word) {
  if (bytes_.empty()) bytes_ = SparseArray<Cell>(bytes_count_);
  for (size_t i = 0; i < 4; ++i) bytes_[word * 4 + i] = words_[word];
  words_[word].split = true;
}

}  // namespace gdn::simt
