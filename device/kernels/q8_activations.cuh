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
inline LaunchShape q8_activations_shape(int64_t count) {
  return {.blocks = static_cast<unsigned>((count / 32 + 3) / 4), .threads = 128};
}

GDN_KERNEL void q8_activations(const Q8Activations& p);

}  // namespace gdn::inline GDN_MACHINE::kernels
