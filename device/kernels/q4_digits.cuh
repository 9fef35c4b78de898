// Activations as a warp holds them for exact products with 4-bit weights: signed digits of a byte,
// in registers, as the right operands of matrix products.
#pragma once

#include <cstdint>

#include "device/kernels/platform.h"

namespace gdn::inline GDN_MACHINE::kernels {

inline constexpr int q4_pairs_held = 6;    // of tiles of 32 columns, by a warp at once
inline constexpr int q4_digit_words = 64;  // of a pair of tiles

// What a lane holds of its warp's activations in a chunk. Those of 32 columns, whose largest
// magnitude is below 2^E, are 2^(E - 29) X with X = 2^15 high + low: high is to nearest, of at most
// 2^14, and low of what is left. So those of -x are those of x with the other sign. Digits 0 and 1
// are low as two signed bytes, digits 2 and 3 high. Lane 4 r + c has digits of one of the two tiles
// of a pair as the right operand of a matrix product, and sums of products of low of tile c / 2, or
// where c is odd of high.
struct Q4Activations {
  // Lane 16 t + 4 i + c: digit i of columns 4 c to 4 c + 3 of tile t, and of those 16 further on.
  Pack<uint32_t, 2> digits[q4_pairs_held];
  // What the sums and the scales are multiplied by, as one factor may be too small.
  float of_sum[q4_pairs_held];
  float of_scale[q4_pairs_held];
};

GDN_DEVICE float power_of_two(int exponent) {
  return bits_float(static_cast<uint32_t>(exponent + 127) << 23);
}

// The four digits, of an x that is scaled: high is x to a whole number, low what is left times
// 2^15. With 128 added to each but the last there is no carry from byte to byte.
GDN_DEVICE uint32_t q4_digits(float x) {
  constexpr float round = 0x1.8p23F;  // in its lowest bits a sum has a whole number
  const float high = x + round;
  const float rest = x - (high - round);
  const float low = fused_multiply_add(rest, 0x1p15F, round);
  const uint32_t both = (float_bits(high) << 16) + (float_bits(low) - float_bits(round));
  return (both + 0x00808080U) ^ 0x00808080U;
}

// Digit i of four activations as word i.
GDN_DEVICE Pack<uint32_t, 4> q4_transposed(const Pack<uint32_t, 4>& x) {
  const uint32_t low_first = permute_bytes(x[0], x[1], 0x5140U);
  const uint32_t low_last = permute_bytes(x[2], x[3], 0x5140U);
  const uint32_t high_first = permute_bytes(x[0], x[1], 0x7362U);
  const uint32_t high_last = permute_bytes(x[2], x[3], 0x7362U);
  return {permute_bytes(low_first, low_last, 0x5410U), permute_bytes(low_first, low_last, 0x7632U),
          permute_bytes(high_first, high_last, 0x5410U),
          permute_bytes(high_first, high_last, 0x7632U)};
}

// The exponent of float32 that the largest of 32 activations has, four of each of 8 lanes, at least
// 1; 255 where one is not finite.
GDN_DEVICE int q4_exponent(const Pack<float, 4>& x) {
  int32_t largest = 1 << 23;
  GDN_UNROLL
  for (int j = 0; j < 4; ++j) {
    largest = max(largest, static_cast<int32_t>(float_bits(x[j]) & 0x7fffffffU));
  }
  GDN_UNROLL
  for (int distance = 1; distance < 8; distance *= 2) {
    largest = max(largest, shuffle_xor(full_mask, largest, distance));
  }
  return largest >> 23;
}

// Of a warp's share of x, two pairs of tiles at a time, the four columns that a lane turns into
// digits: of tile lane / 8 of the four.
inline constexpr int q4_rounds = q4_pairs_held / 2;
struct Q4Inputs {
  Pack<float, 4> x[q4_rounds];
};

GDN_DEVICE void q4_read(Q4Inputs& read, const global<const float>& x, int tiles) {
  const int tile = lane() / 8;
  const global<const float> from = x + (32 * tile + 4 * (lane() % 8));
  GDN_UNROLL
  for (int i = 0; i < q4_rounds; ++i) {
    read.x[i] = {};
    if (4 * i + tile < tiles) read.x[i] = load<4>(from, 128 * i);
  }
}

// `between`: 2 q4_digit_words of the warp's own, where lanes give each other digits.
GDN_DEVICE void q4_hold(Q4Activations& held, const Q4Inputs& read,
                        const shared<uint32_t>& between) {
  const int c = lane() % 4;
  const shared<uint32_t> to = between + (32 * (lane() / 8) + 2 * c + lane() / 4 % 2);
  GDN_UNROLL
  for (int i = 0; i < q4_rounds; ++i) {
    const int exponent = q4_exponent(read.x[i]);
    // E is exponent - 126, and x 2^(14 - E) is to be below 2^14: by two factors, both in range.
    const float first = power_of_two((140 - exponent) / 2);
    const float second = power_of_two(140 - exponent - (140 - exponent) / 2);
    Pack<uint32_t, 4> digits;
    GDN_UNROLL
    for (int j = 0; j < 4; ++j) digits[j] = q4_digits(read.x[i][j] * first * second);
    digits = q4_transposed(digits);
    GDN_UNROLL
    for (int j = 0; j < 4; ++j) to[8 * j] = digits[j];
    syncwarp();
    GDN_UNROLL
    for (int s = 0; s < 2; ++s) {
      held.digits[2 * i + s] = load<2>(between, s * q4_digit_words + 2 * lane());
      const int of_tile = shuffle(full_mask, exponent, 16 * s + 8 * (c / 2));
      // Of sums of 16 nibble X.
      const int power = of_tile - 126 - 29 - 4 + 15 * (c % 2);
      const int of_scale = max(power, -100);
      const float of_sum = power_of_two(power - of_scale);
      held.of_sum[2 * i + s] = of_tile == 255 ? bits_float(canonical_nan) : of_sum;
      held.of_scale[2 * i + s] = power_of_two(of_scale);
    }
    syncwarp();
  }
}

}  // namespace gdn::inline GDN_MACHINE::kernels
