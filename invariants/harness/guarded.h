// Memory that an engine is given: poison inside an output, sentinels around everything.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "invariants/harness/lent.h"

namespace gdn {

template <class T>
class Guarded {
 public:
  // An output: all bytes 0xFF, which is NaN in every float format.
  explicit Guarded(size_t count)
      : bytes_((count + 2 * guard_count) * sizeof(T), guard_byte), count_(count) {
    std::fill_n(bytes_.begin() + guard_bytes, count * sizeof(T), poison_byte);
  }
  // An input.
  explicit Guarded(std::span<const T> content) : Guarded(content.size()) {
    std::copy(content.begin(), content.end(), data());
  }

  T* data() { return reinterpret_cast<T*>(bytes_.data() + guard_bytes); }
  const T* data() const { return reinterpret_cast<const T*>(bytes_.data() + guard_bytes); }
  size_t size() const { return count_; }
  std::vector<T> content() const { return std::vector<T>(data(), data() + count_); }

  // Are the sentinels as they were?
  bool intact() const {
    return all_are(guard_byte, bytes_.data(), guard_bytes) &&
           all_are(guard_byte, bytes_.data() + bytes_.size() - guard_bytes, guard_bytes);
  }
  // And, of an output, is its poison there still?
  bool untouched() const {
    return intact() && all_are(poison_byte, bytes_.data() + guard_bytes, count_ * sizeof(T));
  }
  // An output again, its poison fresh.
  void renew() { std::fill(bytes_.begin() + guard_bytes, bytes_.end() - guard_bytes, poison_byte); }
  // And, of an input, what lies between them?
  bool holds(std::span<const T> content) const {
    return intact() && content.size() == count_ &&
           (count_ == 0 || std::memcmp(data(), content.data(), count_ * sizeof(T)) == 0);
  }

 private:
  // More than a row of a small matrix, so that an index one row off is caught as well.
  static constexpr size_t guard_count = 256;
  static constexpr std::ptrdiff_t guard_bytes = guard_count * sizeof(T);
  static constexpr unsigned char guard_byte = 0xA5;
  static constexpr unsigned char poison_byte = 0xFF;

  // Without a way out in the middle, so that it is done many bytes at a time.
  static bool all_are(unsigned char wanted, const unsigned char* bytes, size_t count) {
    unsigned char differs = 0;
    for (size_t i = 0; i < count; ++i) {
      differs = static_cast<unsigned char>(differs | (bytes[i] ^ wanted));
    }
    return differs == 0;
  }

  Lent<unsigned char> bytes_;
  size_t count_;
};

}  // namespace gdn
