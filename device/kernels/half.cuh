// f16 to float32 by integer operations, on either machine: what half_to_float of platform.h, which
// uses the GPU's own conversion there, is proven equal to. All 65,536 patterns agree bit for bit;
// every NaN becomes canonical_nan, so its sign and payload are lost.
#pragma once

#include <cstdint>

#include "device/kernels/platform.h"

namespace gdn::inline GDN_MACHINE {

// sign(1) exponent(5) fraction(10), bias 15, to sign(1) exponent(8) fraction(23), bias 127.
GDN_HOST_DEVICE inline float half_to_float_by_integers(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000U) << 16;
  const uint32_t exponent = (half >> 10) & 0x1fU;
  const uint32_t fraction = half & 0x3ffU;
  uint32_t bits = (exponent + 127 - 15) << 23 | fraction << 13;
  if (exponent == 0x1f) {
    if (fraction != 0) return __builtin_bit_cast(float, canonical_nan);
    bits = 0x7f800000U;
  } else if (exponent == 0) {
    // Zero or subnormal: fraction 2^-24, where the integer and the product are exact.
    bits = __builtin_bit_cast(uint32_t, static_cast<float>(fraction) * 0x1p-24F);
  }
  return __builtin_bit_cast(float, sign | bits);
}

}  // namespace gdn::inline GDN_MACHINE
