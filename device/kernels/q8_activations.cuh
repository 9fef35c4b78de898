// What activations become as q8_0, in blocks of 32: d = amax / 127, id = 1 / d (0 where d is 0 or
// 1 / d overflows), q = x id rounded half away from zero, value = q f16(d). A warp a block.
#pragma once

#include <cstdint>

#include "device/kernels/platform.h"

namespace gdn::inline GDN_MACHINE::kernels {

struct Q8Activations {
  global<const float> x;  // [count]
  global<float> y;        // [count], may be x
  int64_t count;          // a multiple of 32
};

// Threads: any multiple of 32.
inline LaunchShape q8_activations_shape(int64_t count, unsigned threads = 128) {
  return {.blocks = static_cast<unsigned>((count + threads - 1) / threads), .threads = threads};
}

// A NaN takes no part in amax and gives NaN; an infinity makes its block NaN.
GDN_KERNEL void q8_activations(const Q8Activations& p) {
  const int warps = thread_count() / warp_size;
  const int64_t block = static_cast<int64_t>(block_index()) * warps + warp_index();
  const int64_t i = block * warp_size + lane();
  if (i >= p.count) return;
  const float x = p.x[i];
  float amax = max(absolute(x), 0.0F);
  GDN_UNROLL
  for (int distance = warp_size / 2; distance > 0; distance /= 2) {
    amax = max(amax, shuffle_xor(full_mask, amax, distance));
  }
  const float d = amax / 127.0F;
  const float reciprocal = 1.0F / d;
  const bool overflows = float_bits(reciprocal) == 0x7f800000U;
  const float id = d == 0 || overflows ? 0.0F : reciprocal;
  p.y[i] = round_half_away(x * id) * half_to_float(float_to_half(d));
}

}  // namespace gdn::inline GDN_MACHINE::kernels
