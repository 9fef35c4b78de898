// f16, bf16, q4_0, q4_tile and q8_0 by their bit fields; nothing here rounds but where it says so.
#include "reference/formats.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#ifdef __FAST_MATH__
#error "formats are defined by IEEE arithmetic; compile without fast math"
#endif

namespace gdn {
namespace {

// A binary format of 16 bits: sign, exponent, fraction.
struct Fields {
  int fraction_bits;
  int exponent_min;  // of normal numbers
  uint16_t infinity_bits;
};
constexpr Fields f16_fields{10, -14, 0x7C00};
constexpr Fields bf16_fields{7, -126, 0x7F80};

// The nearest multiple of 2^shift, ties to even, divided by 2^shift.
uint64_t shift_right_to_nearest_even(uint64_t significand, int shift) {
  if (shift > 54) return 0;  // below half a unit, as significand < 2^53
  const uint64_t kept = significand >> shift;
  const uint64_t rest = significand - (kept << shift);
  const uint64_t half = uint64_t{1} << (shift - 1);
  const bool up = rest > half || (rest == half && (kept & 1) != 0);
  return kept + (up ? 1 : 0);
}

uint16_t encode(double value, const Fields& fields) {
  constexpr int double_fraction_bits = 52;
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const uint16_t sign = static_cast<uint16_t>(bits >> 63 << 15);
  const uint64_t fraction = bits & ((uint64_t{1} << double_fraction_bits) - 1);
  const int dropped_bits = double_fraction_bits - fields.fraction_bits;
  if (std::isnan(value)) {
    const uint64_t quiet = uint64_t{1} << (fields.fraction_bits - 1);
    return static_cast<uint16_t>(sign | fields.infinity_bits | quiet | (fraction >> dropped_bits));
  }
  if (std::isinf(value)) return static_cast<uint16_t>(sign | fields.infinity_bits);
  const int biased = static_cast<int>(bits >> double_fraction_bits & 0x7FF);
  // Subnormal doubles lie far below half of the smallest number of either format.
  if (biased == 0) return sign;
  const int exponent = biased - 1023;
  const uint64_t significand = fraction | uint64_t{1} << double_fraction_bits;
  const int steps_below_normal = std::max(0, fields.exponent_min - exponent);
  uint64_t magnitude = shift_right_to_nearest_even(significand, dropped_bits + steps_below_normal);
  // The leading bit of a normal significand adds the last 1 to its exponent field, and a carry out
  // of the significand moves on to the next exponent, as it should.
  if (steps_below_normal == 0) {
    const auto exponent_field = static_cast<uint64_t>(exponent - fields.exponent_min);
    magnitude += exponent_field << fields.fraction_bits;
  }
  magnitude = std::min<uint64_t>(magnitude, fields.infinity_bits);
  return static_cast<uint16_t>(sign | magnitude);
}

uint16_t little_endian_16(const uint8_t* bytes) {
  return static_cast<uint16_t>(bytes[0] | bytes[1] << 8);
}

// Where byte j of row m's 16 code bytes stands in a tile.
constexpr int64_t tile_offset(int64_t m, int64_t j) { return 8 + (j / 4) * 16 + m * 4 + j % 4; }

// XOR with 8 in both nibbles turns code, an offset of 8, into two's complement and back.
constexpr uint8_t sign_flip = 0x88;

constexpr int signed_nibble(int nibble) { return nibble < 8 ? nibble : nibble - 16; }

struct Quantiser {
  float scale;          // d
  float scale_inverse;  // 1/d, or 0
};

// The scale of a block, or what is wrong with the block.
std::string choose_scale(const float* weights, Quantiser* chosen) {
  float extreme = 0;  // the first element of largest magnitude, with its sign
  for (int64_t i = 0; i < q4_block_weights; ++i) {
    if (!std::isfinite(weights[i])) {
      return "weight " + std::to_string(i) + " of the block is " +
             (std::isnan(weights[i]) ? "NaN" : "infinite") + "; expected a finite number";
    }
    if (std::fabs(weights[i]) > std::fabs(extreme)) extreme = weights[i];
  }
  constexpr float f16_max = 65504;
  const float scale = extreme / -8;
  if (std::fabs(scale) > f16_max) {
    return "the largest weight of the block is " + std::to_string(extreme) +
           "; expected at most 8 * 65504 in magnitude, as its scale is an f16";
  }
  const float inverse = 1 / scale;
  *chosen = std::isfinite(inverse) ? Quantiser{scale, inverse} : Quantiser{-0.0F, 0.0F};
  return "";
}

}  // namespace

float f16_decode(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = bits >> 10 & 0x1F;
  const uint32_t fraction = bits & 0x3FF;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000 | fraction << 13);
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

float bf16_decode(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t f16_encode(double value) { return encode(value, f16_fields); }
uint16_t bf16_encode(double value) { return encode(value, bf16_fields); }

double round_to(Format format, double value) {
  switch (format) {
    case Format::f32:
      return static_cast<double>(static_cast<float>(value));
    case Format::bf16:
      return bf16_decode(bf16_encode(value));
    case Format::f16:
      return f16_decode(f16_encode(value));
  }
  return value;
}

std::string why_not_q4_tile(int64_t rows, int64_t cols) {
  if (rows < 1 || rows % q4_tile_rows != 0) {
    return "rows is " + std::to_string(rows) + "; expected a positive multiple of 4";
  }
  if (cols < 1 || cols % q4_block_weights != 0) {
    return "cols is " + std::to_string(cols) + "; expected a positive multiple of 32";
  }
  return "";
}

void q4_0_decode_block(const uint8_t* block, float* weights) {
  const float scale = f16_decode(little_endian_16(block));
  for (int j = 0; j < 16; ++j) {
    const int codes = block[2 + j];
    weights[j] = scale * static_cast<float>((codes & 15) - 8);
    weights[j + 16] = scale * static_cast<float>((codes >> 4) - 8);
  }
}

std::string q4_0_encode_block(const float* weights, uint8_t* block) {
  Quantiser quantiser{};
  std::string wrong = choose_scale(weights, &quantiser);
  if (!wrong.empty()) return wrong;
  const auto code = [&](float weight) {
    // The extreme weight gives -8 within 2^-20, so the sum is positive and truncation is a floor.
    const float product = weight * quantiser.scale_inverse;
    const float sum = product + 8.5F;
    return std::min(15, static_cast<int>(sum));
  };
  const uint16_t scale_bits = f16_encode(quantiser.scale);
  block[0] = static_cast<uint8_t>(scale_bits & 0xFF);
  block[1] = static_cast<uint8_t>(scale_bits >> 8);
  for (int j = 0; j < 16; ++j) {
    block[2 + j] = static_cast<uint8_t>(code(weights[j]) | code(weights[j + 16]) << 4);
  }
  return "";
}

void q4_0_decode_row(const uint8_t* blocks, int64_t cols, int64_t row, float* weights) {
  const int64_t blocks_per_row = cols / q4_block_weights;
  const uint8_t* first = blocks + row * blocks_per_row * q4_block_bytes;
  for (int64_t b = 0; b < blocks_per_row; ++b) {
    q4_0_decode_block(first + b * q4_block_bytes, weights + b * q4_block_weights);
  }
}

void q4_tile_decode_row(const uint8_t* tiles, int64_t cols, int64_t row, float* weights) {
  const int64_t tiles_per_group = cols / q4_block_weights;
  const uint8_t* group = tiles + row / q4_tile_rows * tiles_per_group * q4_tile_bytes;
  const int64_t m = row % q4_tile_rows;
  for (int64_t t = 0; t < tiles_per_group; ++t) {
    const uint8_t* tile = group + t * q4_tile_bytes;
    const float scale = f16_decode(little_endian_16(tile + 2 * m));
    float* out = weights + t * q4_block_weights;
    for (int64_t j = 0; j < 16; ++j) {
      const int nibbles = tile[tile_offset(m, j)];
      out[j] = scale * static_cast<float>(signed_nibble(nibbles & 15));
      out[j + 16] = scale * static_cast<float>(signed_nibble(nibbles >> 4));
    }
  }
}

std::vector<uint8_t> q4_tile_pack(std::span<const uint8_t> blocks, int64_t rows, int64_t cols) {
  std::vector<uint8_t> tiles(static_cast<size_t>(q4_bytes(rows, cols)));
  const int64_t blocks_per_row = cols / q4_block_weights;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t m = row % q4_tile_rows;
    for (int64_t b = 0; b < blocks_per_row; ++b) {
      const uint8_t* block = blocks.data() + (row * blocks_per_row + b) * q4_block_bytes;
      uint8_t* tile = tiles.data() + (row / q4_tile_rows * blocks_per_row + b) * q4_tile_bytes;
      tile[2 * m] = block[0];
      tile[2 * m + 1] = block[1];
      for (int64_t j = 0; j < 16; ++j) tile[tile_offset(m, j)] = block[2 + j] ^ sign_flip;
    }
  }
  return tiles;
}

std::vector<uint8_t> q4_tile_unpack(std::span<const uint8_t> tiles, int64_t rows, int64_t cols) {
  std::vector<uint8_t> blocks(static_cast<size_t>(q4_bytes(rows, cols)));
  const int64_t blocks_per_row = cols / q4_block_weights;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t m = row % q4_tile_rows;
    for (int64_t b = 0; b < blocks_per_row; ++b) {
      uint8_t* block = blocks.data() + (row * blocks_per_row + b) * q4_block_bytes;
      const uint8_t* tile =
          tiles.data() + (row / q4_tile_rows * blocks_per_row + b) * q4_tile_bytes;
      block[0] = tile[2 * m];
      block[1] = tile[2 * m + 1];
      for (int64_t j = 0; j < 16; ++j) block[2 + j] = tile[tile_offset(m, j)] ^ sign_flip;
    }
  }
  return blocks;
}

std::optional<std::vector<uint8_t>> q4_tile_quantise(std::span<const float> weights, int64_t rows,
                                                     int64_t cols, std::string* why) {
  *why = why_not_q4_tile(rows, cols);
  if (!why->empty()) return std::nullopt;
  const int64_t blocks_per_row = cols / q4_block_weights;
  std::vector<uint8_t> blocks(static_cast<size_t>(q4_bytes(rows, cols)));
  for (int64_t block = 0; block < rows * blocks_per_row; ++block) {
    const std::string wrong = q4_0_encode_block(weights.data() + block * q4_block_weights,
                                                blocks.data() + block * q4_block_bytes);
    if (wrong.empty()) continue;
    *why = "row " + std::to_string(block / blocks_per_row) + ", columns from " +
           std::to_string(block % blocks_per_row * q4_block_weights) + ": " + wrong;
    return std::nullopt;
  }
  return q4_tile_pack(blocks, rows, cols);
}

std::vector<float> q8_0_round_trip(std::span<const float> activations) {
  std::vector<float> decoded(activations.size());
  for (size_t begin = 0; begin + q8_block_values <= activations.size(); begin += q8_block_values) {
    float largest = 0;
    for (size_t i = begin; i < begin + q8_block_values; ++i) {
      largest = std::fmax(largest, std::fabs(activations[i]));
    }
    const float scale = largest / 127;
    const float reciprocal = 1 / scale;
    const float inverse = std::isfinite(reciprocal) ? reciprocal : 0.0F;
    const float stored_scale = f16_decode(f16_encode(scale));
    for (size_t i = begin; i < begin + q8_block_values; ++i) {
      const float product = activations[i] * inverse;
      decoded[i] = std::round(product) * stored_scale;  // std::round goes half away from zero
    }
  }
  return decoded;
}

}  // namespace gdn
