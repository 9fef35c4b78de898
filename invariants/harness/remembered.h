// What one engine gave, by what it should follow from, as hashes: the same again must have the same
// bits. Cheaper than a replay, and blind to what is wrong every time.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "reference/rng.h"

namespace gdn {

// Of the bits; all NaNs are one.
inline uint64_t hash_of(std::span<const float> numbers) {
  uint64_t hash = numbers.size();
  for (const float x : numbers) {
    const uint32_t bits = std::isnan(x) ? 0x7FC00000U : std::bit_cast<uint32_t>(x);
    hash = (hash ^ bits) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 32;
  }
  return hash;
}
inline uint64_t hash_of(std::span<const uint8_t> bytes) {
  uint64_t hash = bytes.size();
  for (const uint8_t byte : bytes) hash = mix64(hash ^ byte);
  return hash;
}

class Remembered {
 public:
  // The call after which it was otherwise; nothing where it was the same, or comes for the first
  // time.
  std::optional<size_t> other_since(uint64_t key, uint64_t hash, size_t call) {
    // From the last one back: most of what is asked for came a moment ago.
    for (size_t i = known_.size(); i-- > 0;) {
      if (known_[i].key != key) continue;
      return known_[i].hash == hash ? std::nullopt : std::optional(known_[i].call);
    }
    known_.push_back({key, hash, call});
    return std::nullopt;
  }

 private:
  struct Known {
    uint64_t key, hash;
    size_t call;
  };
  std::vector<Known> known_;
};

}  // namespace gdn
