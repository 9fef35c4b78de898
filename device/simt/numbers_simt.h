// Numbers of platform_simt.h, which includes it: what a GPU has instructions for.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "device/simt/running.h"
#include "device/simt/site.h"

namespace gdn::inline on_simt {

GDN_SIMT_INLINE uint32_t float_bits(float x) { return __builtin_bit_cast(uint32_t, x); }
GDN_SIMT_INLINE float bits_float(uint32_t bits) { return __builtin_bit_cast(float, bits); }
// One instruction where the processor has it, in place of a call that asks for it each time.
GDN_SIMT_INLINE float fused_multiply_add(float a, float b, float c) {
#if defined(__x86_64__)
  if (simt::has_fma) {
    asm("vfmadd231ss %2, %1, %0" : "+x"(c) : "x"(a), "x"(b));
    return c;
  }
#endif
  return std::fma(a, b, c);
}
GDN_SIMT_INLINE float square_root(float x) { return std::sqrt(x); }
GDN_SIMT_INLINE double reciprocal_seed(double x) { return 1.0 / x; }
GDN_SIMT_INLINE double rsqrt_seed(double x) { return 1.0 / std::sqrt(x); }
GDN_SIMT_INLINE float round_half_away(float x) { return std::round(x); }

GDN_SIMT_INLINE uint32_t and_xor(uint32_t x, uint32_t mask, uint32_t flips) {
  return (x & mask) ^ flips;
}

// Four products of signed bytes, and c; sums wrap around.
inline int32_t dp4a(int32_t a, int32_t b, int32_t c) {
  auto sum = static_cast<uint32_t>(c);
  for (int i = 0; i < 4; ++i) {
    const int x = static_cast<int8_t>(static_cast<uint32_t>(a) >> (8 * i));
    const int y = static_cast<int8_t>(static_cast<uint32_t>(b) >> (8 * i));
    sum += static_cast<uint32_t>(x * y);
  }
  return static_cast<int32_t>(sum);
}

inline uint32_t permute_bytes(uint32_t a, uint32_t b, uint32_t chosen) {
  const uint64_t bytes = uint64_t{b} << 32 | a;
  uint32_t taken = 0;
  for (int i = 0; i < 4; ++i) {
    const uint32_t which = chosen >> (4 * i) & 7U;
    taken |= static_cast<uint32_t>(bytes >> (8 * which) & 0xffU) << (8 * i);
  }
  return taken;
}

// NaN gives 0; what lies outside int32 gives the nearer end.
inline int32_t to_int_toward_zero(float x) {
  if (x != x) return 0;
  if (x >= 0x1p31F) return std::numeric_limits<int32_t>::max();
  if (x < -0x1p31F) return std::numeric_limits<int32_t>::min();
  return static_cast<int32_t>(x);
}
inline int32_t to_int_nearest_even(float x) { return to_int_toward_zero(std::nearbyint(x)); }

// An f16 number, exactly; of a NaN some NaN. Exponent and significand, moved to where float32 has
// them, are the number times 2^-112, subnormals included.
inline float widen_half(uint16_t half) {
  const uint32_t sign = (half & 0x8000U) << 16;
  const uint32_t magnitude = half & 0x7fffU;
  if (magnitude >= 0x7c00) return bits_float(sign | 0x7f800000U | (magnitude & 0x3ffU) << 13);
  return bits_float(sign | float_bits(bits_float(magnitude << 13) * 0x1p112F));
}

// To nearest even, by integers: the significand with its hidden bit is shifted down by 13, or by
// more where the result is subnormal.
inline uint16_t narrow_half(float x) {
  const uint32_t bits = float_bits(x);
  const uint32_t sign = bits >> 16 & 0x8000U;
  const uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude >= 0x47800000U) return static_cast<uint16_t>(sign | 0x7c00U);  // from 2^16 on
  if (magnitude < 0x33000000U) return static_cast<uint16_t>(sign);  // below half the smallest
  const uint32_t exponent = magnitude >> 23;
  const bool subnormal = exponent < 113;  // below 2^-14
  const uint32_t significand = subnormal ? (magnitude & 0x7fffffU) | 0x800000U : magnitude;
  const uint32_t shift = subnormal ? 126 - exponent : 13;
  const uint32_t half_place = 1U << (shift - 1);
  const uint32_t kept = significand >> shift;
  const uint32_t rounded = (significand + half_place - 1 + (kept & 1U)) >> shift;
  return static_cast<uint16_t>(sign | (subnormal ? rounded : rounded - (112U << 10)));
}

}  // namespace gdn::inline on_simt
