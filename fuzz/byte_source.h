// Bytes as a stream of choices; what comes after the last one is zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

namespace gdn {

class ByteSource {
 public:
  explicit ByteSource(std::span<const uint8_t> bytes) : left_(bytes) {}

  bool empty() const { return left_.empty(); }
  uint8_t byte() {
    if (left_.empty()) return 0;
    const uint8_t first = left_.front();
    left_ = left_.subspan(1);
    return first;
  }
  uint64_t word() {
    uint64_t all = 0;
    for (int i = 0; i < 8; ++i) all = all << 8 | byte();
    return all;
  }
  // One choice in `odds`.
  bool rarely(int odds) { return byte() % odds == odds - 1; }
  // `right` most of the time; else a number that tells engines apart from careful ones, or any.
  int64_t count(int64_t right) {
    constexpr int64_t telling[] = {0, -1, 1, 2, 3, 31, 33, INT32_MAX, INT64_MAX, INT64_MIN, -2};
    const uint8_t what = byte();
    if (what < 208) return right;
    // Beside the largest count is the smallest.
    if (what < 224) return static_cast<int64_t>(static_cast<uint64_t>(right) + 1);
    if (what < 236) return static_cast<int64_t>(static_cast<uint64_t>(right) - 1);
    if (what < 252) return telling[what % std::size(telling)];
    return static_cast<int64_t>(word());
  }
  std::string_view text(size_t size_max) {
    const size_t size = size_max < left_.size() ? size_max : left_.size();
    const std::string_view taken(reinterpret_cast<const char*>(left_.data()), size);
    left_ = left_.subspan(size);
    return taken;
  }

 private:
  std::span<const uint8_t> left_;
};

}  // namespace gdn
