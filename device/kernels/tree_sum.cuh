// The last stages of every reduction: a tree of neighbours, the order that contracts call
// tree_adjacent. An odd last one passes on, which adding a zero does as well: so a sum of fewer
// terms than lanes has zeros in the others, and the same bits.
#pragma once

#include <cstdint>

#include "device/kernels/platform.h"

namespace gdn::inline GDN_MACHINE::kernels {

// The order of a matrix-vector product of float32: stride 256 fused, block 4, tree_adjacent. Two
// warps share a row; a lane has the four neighbouring accumulators of each of its blocks.
inline constexpr int gemv_warps_a_row = 2;
inline constexpr int gemv_threads_a_row = gemv_warps_a_row * warp_size;
inline constexpr int gemv_columns_a_step = 4 * gemv_threads_a_row;

// What a thread's four accumulators of neighbouring elements add up to: the stage `block 4`.
GDN_DEVICE float block_of_4_sum(float a, float b, float c, float d) { return ((a + b) + c) + d; }

// The terms of one thread, a power of two of them: tree_adjacent. Spoils them.
template <int count>
GDN_DEVICE float tree_of(float (&terms)[count]) {
  GDN_UNROLL
  for (int width = count / 2; width > 0; width /= 2) {
    // A constant count, so that the array stays in registers.
    GDN_UNROLL
    for (int i = 0; i < count / 2; ++i) {
      if (i < width) terms[i] = terms[2 * i] + terms[2 * i + 1];
    }
  }
  return terms[0];
}

// What a lane has of a warp's vector; the warp's tree over it is stride 32 fused, tree_adjacent.
template <class Numbers>
GDN_DEVICE float lane_sum_of_squares(const Numbers& x, int64_t count) {
  constexpr int at_once = 4;
  float sum = 0;
  GDN_ROLLED
  for (int64_t first = lane(); first < count; first += at_once * warp_size) {
    float elements[at_once] = {};
    GDN_UNROLL
    for (int j = 0; j < at_once; ++j) {
      const int64_t i = first + j * warp_size;
      if (i < count) elements[j] = x[i];
    }
    GDN_UNROLL
    for (int j = 0; j < at_once; ++j) sum = fused_multiply_add(elements[j], elements[j], sum);
  }
  return sum;
}

}  // namespace gdn::inline GDN_MACHINE::kernels
