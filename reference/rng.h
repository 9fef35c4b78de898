// Random numbers that are the same for ever: splitmix64 and exact float steps, nothing of <random>.
// Source: Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace gdn {

// The finaliser of splitmix64, a bijection of 64-bit numbers.
constexpr uint64_t mix64(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

// FNV-1a, 64 bits.
constexpr uint64_t fnv1a64(std::string_view bytes) {
  uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return hash;
}

class Rng {
 public:
  explicit constexpr Rng(uint64_t seed) : state_(seed) {}

  constexpr uint64_t next() { return mix64(state_ += 0x9E3779B97F4A7C15U); }

  // A whole number in [low, high]. The bias of the remainder is below span / 2^64.
  constexpr int64_t range(int64_t low, int64_t high) {
    const uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
    const uint64_t draw = span == 0 ? next() : next() % span;
    return static_cast<int64_t>(static_cast<uint64_t>(low) + draw);
  }

  // A multiple of 2^-23 in [-1, 1). Exact: 24 bits fit float32.
  constexpr float signed_unit() {
    return static_cast<float>(static_cast<int64_t>(next() >> 40) - (int64_t{1} << 23)) * 0x1p-23F;
  }

  // A multiple of 2^-24 in [0, 1).
  constexpr float unit() { return static_cast<float>(next() >> 40) * 0x1p-24F; }

  // An independent stream of its own name: what it gives depends on seed and name alone, not on
  // how many numbers others drew.
  constexpr Rng stream(std::string_view name) const { return Rng(mix64(state_ ^ fnv1a64(name))); }

 private:
  uint64_t state_;
};

// One item of an array, a span or a container.
template <class List>
auto& one_of(Rng& rng, List&& list) {
  const auto last = static_cast<int64_t>(std::size(list)) - 1;
  return *std::next(std::begin(list), static_cast<std::ptrdiff_t>(rng.range(0, last)));
}

}  // namespace gdn
