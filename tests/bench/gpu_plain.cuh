// What a GPU does at best with the bytes of a kernel: read them, or read and write them, and
// nothing else; launched as the engine launches its kernels, so that a launch begins while the one
// before ends, and waits for it before it asks for anything.
#pragma once

#include "device/kernels/platform.h"
#include "tests/bench/gpu_timing.cuh"

namespace gdn::gpu {

inline constexpr int plain_threads = 256;
inline constexpr int plain_at_once = 8;

// Every 16 bytes once. The sum is kept only where it has one value of 2^32, so that nothing is
// written and nothing can be left out.
struct PlainRead {
  global<const uint4> from;
  uint64_t count;
  global<unsigned> never;
};

GDN_KERNEL void plain_read(const PlainRead& p) {
  const uint64_t step = uint64_t{gridDim.x} * blockDim.x;
  uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  unsigned sum = 0;
  for (; i + (plain_at_once - 1) * step < p.count; i += plain_at_once * step) {
    uint4 words[plain_at_once];
    GDN_UNROLL
    for (int j = 0; j < plain_at_once; ++j) words[j] = __ldcs(p.from.address + i + j * step);
    GDN_UNROLL
    for (int j = 0; j < plain_at_once; ++j) {
      sum += words[j].x ^ words[j].y ^ words[j].z ^ words[j].w;
    }
  }
  for (; i < p.count; i += step) {
    const uint4 word = __ldcs(p.from.address + i);
    sum += word.x ^ word.y ^ word.z ^ word.w;
  }
  if (sum == 0x9e3779b9U) p.never[0] = sum;
}

// Every 16 bytes read and written once, in place. Signs are flipped, so that no store can be left
// out.
struct PlainReadAndWrite {
  global<uint4> states;
  uint64_t count;
};

GDN_DEVICE uint4 sign_flipped(uint4 word) {
  constexpr unsigned sign = 0x80000000U;
  return {word.x ^ sign, word.y ^ sign, word.z ^ sign, word.w ^ sign};
}

GDN_KERNEL void plain_read_and_write(const PlainReadAndWrite& p) {
  const uint64_t step = uint64_t{gridDim.x} * blockDim.x;
  uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; i + (plain_at_once - 1) * step < p.count; i += plain_at_once * step) {
    uint4 words[plain_at_once];
    GDN_UNROLL
    for (int j = 0; j < plain_at_once; ++j) words[j] = p.states[i + j * step];
    GDN_UNROLL
    for (int j = 0; j < plain_at_once; ++j) p.states[i + j * step] = sign_flipped(words[j]);
  }
  for (; i < p.count; i += step) p.states[i] = sign_flipped(p.states[i]);
}

}  // namespace gdn::gpu

namespace gdn::inline GDN_MACHINE {

template <>
inline constexpr int block_threads_max<gpu::plain_read> = gpu::plain_threads;
template <>
inline constexpr int block_threads_max<gpu::plain_read_and_write> = gpu::plain_threads;
// So a read is faster than with as many registers as one block could have.
template <>
inline constexpr int blocks_at_once_min<gpu::plain_read> = 0;
template <>
inline constexpr int blocks_at_once_min<gpu::plain_read_and_write> = 0;

}  // namespace gdn::inline GDN_MACHINE

namespace gdn::gpu {

// Of `launches`, the i-th with params(i); the fastest of several grids.
template <auto kernel, class ParamsOfLaunch>
Times time_plain(const Timer& timer, int repeats, int processors, size_t launches,
                 const ParamsOfLaunch& params) {
  Times best;
  for (const int blocks_a_processor : {1, 2, 4, 8}) {
    const LaunchShape shape = {.blocks = static_cast<unsigned>(blocks_a_processor * processors),
                               .threads = plain_threads};
    const Times here = timer.time_graph(repeats, [&](cudaStream_t stream) {
      for (size_t i = 0; i < launches; ++i) {
        require(launch<kernel>(stream, shape, params(i)), "a plain launch");
      }
    });
    if (best.median == 0 || here.median < best.median) best = here;
  }
  return best;
}

}  // namespace gdn::gpu
