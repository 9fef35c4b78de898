// What stands between a layer's projections and its recurrence, in one launch: the conv of every
// channel, the norm of q and k, the gates. A block takes a head of q or of k, channels of v, or
// heads of the gates; what it computes is what conv, qk_norm and gates do.
#pragma once

#include <cstdint>

#include "device/kernels/conv.cuh"
#include "device/kernels/gates.cuh"
#include "device/kernels/platform.h"
#include "device/kernels/qk_norm.cuh"

namespace gdn::inline GDN_MACHINE::kernels {

struct ConvGatesNorm {
  Conv conv;    // channels of q, then k, then v
  Gates gates;  // of every v-head
  QkNorm norm;  // of what the conv gives as q and k
};

inline LaunchShape conv_gates_norm_shape(int64_t channels, int64_t k_heads, int64_t head_dim,
                                         int64_t v_heads, unsigned threads = 128) {
  const auto blocks = [threads](int64_t count) { return (count + threads - 1) / threads; };
  const int64_t of_v = channels - 2 * k_heads * head_dim;
  return {.blocks = static_cast<unsigned>(2 * k_heads + blocks(of_v) + blocks(v_heads)),
          .threads = threads};
}

GDN_KERNEL void conv_gates_norm(const ConvGatesNorm& p) {
  const int64_t heads = 2 * p.norm.k_heads;
  const int64_t block = block_index();
  if (block < heads) {
    for (int64_t i = thread_index(); i < p.norm.head_dim; i += thread_count()) {
      conv_of_channel(p.conv, block * p.norm.head_dim + i);
    }
    barrier();  // the head is normed by one warp
    if (warp_index() == 0) qk_norm_of_head(p.norm, block);
    return;
  }
  const int64_t first_of_v = heads * p.norm.head_dim;
  const int64_t of_v = p.conv.channels - first_of_v;
  const int64_t v_blocks = (of_v + thread_count() - 1) / thread_count();
  const int64_t i = (block - heads) * thread_count() + thread_index();
  if (block - heads < v_blocks) {
    if (i < of_v) conv_of_channel(p.conv, first_of_v + i);
    return;
  }
  const int64_t head = i - v_blocks * thread_count();
  if (head < p.gates.count) gates_of_head(p.gates, head);
}

}  // namespace gdn::inline GDN_MACHINE::kernels
