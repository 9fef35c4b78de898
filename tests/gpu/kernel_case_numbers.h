// The numbers that cases of kernels are run on.
#pragma once

#include <cstdint>
#include <vector>

#include "device/kernels/launch_shape.h"
#include "reference/rng.h"
#include "tests/gpu/kernel_cases.h"

namespace gdn::gpu {

inline unsigned size_of(unsigned threads, const LaunchShape& usual) {
  return threads == usual_size ? usual.threads : threads;
}

inline std::vector<float> drawn(uint64_t seed, int64_t count, float scale = 1) {
  Rng rng(seed);
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back((rng.signed_unit() + 0x1p-24F) * scale);
  return values;
}

// Any nibbles; scales of about 2^-6 of either sign.
inline std::vector<uint8_t> drawn_tiles(uint64_t seed, int64_t rows, int64_t cols) {
  constexpr size_t tile_bytes = 72;
  Rng rng(seed);
  std::vector<uint8_t> tiles(static_cast<size_t>(rows * (cols / 32) * 18));
  for (uint8_t& byte : tiles) byte = static_cast<uint8_t>(rng.next());
  for (size_t at = 0; at < tiles.size(); at += tile_bytes) {
    for (size_t high = at + 1; high < at + 8; high += 2) {
      tiles[high] = static_cast<uint8_t>(0x24 | (tiles[high] & 0x83));
    }
  }
  return tiles;
}

}  // namespace gdn::gpu
