// One kernel source, two machines: nvcc compiles it for a GPU, g++ and clang++ for the simulator in
// device/simt. This header alone asks which compiler reads it. A kernel is a function
// `GDN_KERNEL void f(const P& p)`, P a plain struct of numbers and of `global<T>` pointers, within
// `namespace gdn::inline GDN_MACHINE`; docs/simulator.md shows one and lists what it may call.
#pragma once

#include <cstdint>

#include "device/kernels/launch_shape.h"

#ifdef __FAST_MATH__
#error "both machines must give the same bits: build kernels without fast math"
#endif

// The machines' types differ under one name, so each has a namespace of its own: a program may
// hold both.
#ifdef __CUDACC__
#define GDN_MACHINE on_cuda
#define GDN_HOST_DEVICE __host__ __device__
#define GDN_DEVICE __device__ __forceinline__
#define GDN_UNROLL _Pragma("unroll")
#define GDN_ROLLED _Pragma("unroll 1")  // code that runs once costs the time to fetch it
#else
#define GDN_MACHINE on_simt
#define GDN_HOST_DEVICE
#define GDN_DEVICE inline
#define GDN_UNROLL
#define GDN_ROLLED
#endif
#define GDN_KERNEL GDN_DEVICE

namespace gdn::inline GDN_MACHINE {

inline constexpr int warp_size = 32;
inline constexpr uint32_t full_mask = 0xffffffffU;

// N neighbouring elements, moved in one access; N sizeof(T) is a power of two up to 16.
template <class T, int N>
struct alignas(sizeof(T) * N) Pack {
  static_assert(sizeof(T) * N <= 16 && (sizeof(T) * N & (sizeof(T) * N - 1)) == 0);
  T at[N];
  GDN_HOST_DEVICE constexpr T& operator[](int i) { return at[i]; }
  GDN_HOST_DEVICE constexpr const T& operator[](int i) const { return at[i]; }
};

// The params struct of a kernel.
template <class Function>
struct ParamsOf;
template <class P>
struct ParamsOf<void (*)(const P&)> {
  using type = P;
};
template <auto kernel>
using Params = typename ParamsOf<decltype(+kernel)>::type;

// How many threads a block of the kernel may have: with 1024 a thread has at most 64 registers. A
// kernel that needs more says so.
template <auto kernel>
inline constexpr int block_threads_max = 1024;

// Blocks of so many threads that a multiprocessor is to have room for, by their registers; 0: as
// the compiler thinks best.
template <auto kernel>
inline constexpr int blocks_at_once_min = 1;

// Whether a kernel is `Steps` alone: its threads meet where all of them are between two steps, and
// what stands outside the steps asks for no thread. The simulator then needs no stacks.
template <auto kernel>
inline constexpr bool runs_by_steps = false;

// Whether a kernel itself says, by wait_for_launches_before, from where on it needs what the launch
// before wrote. Any other waits before its first step.
template <auto kernel>
inline constexpr bool begins_early = false;

// Whether the next launch may begin with this one, and so overlap whatever this one may overlap. It
// is for calls of which the host waits for each: else the next launch begins at the wait.
template <auto kernel>
inline constexpr bool next_begins_with_it = false;

}  // namespace gdn::inline GDN_MACHINE

#ifdef __CUDACC__
#include "device/kernels/platform_cuda.h"
#else
#include "device/simt/platform_simt.h"
#endif

// What follows is written once, over the few primitives that the two headers give.
namespace gdn::inline GDN_MACHINE {

GDN_DEVICE int lane() { return thread_index() % warp_size; }
GDN_DEVICE int warp_index() { return thread_index() / warp_size; }

// Four and sixteen elements in one access; `i` counts elements and is a multiple of the number.
template <class Pointer>
GDN_DEVICE auto load4(const Pointer& p, int64_t i, Site site = here()) {
  return load<4>(p, i, site);
}
template <class Pointer>
GDN_DEVICE auto load16(const Pointer& p, int64_t i, Site site = here()) {
  return load<16>(p, i, site);
}

// Of a NaN and a number the number, of two NaN a NaN; -0 is below +0.
GDN_DEVICE float min(float a, float b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return bits_float(float_bits(a) | float_bits(b));
  return a < b ? a : b;
}
GDN_DEVICE float max(float a, float b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return bits_float(float_bits(a) & float_bits(b));
  return a < b ? b : a;
}
GDN_DEVICE int32_t min(int32_t a, int32_t b) { return a < b ? a : b; }
GDN_DEVICE int32_t max(int32_t a, int32_t b) { return a < b ? b : a; }
GDN_DEVICE int64_t min(int64_t a, int64_t b) { return a < b ? a : b; }
GDN_DEVICE int64_t max(int64_t a, int64_t b) { return a < b ? b : a; }

// Clears the sign, of a NaN too.
GDN_DEVICE float absolute(float x) { return bits_float(float_bits(x) & 0x7fffffffU); }

// f16 and bf16 numbers are held as their bits. Widening is exact, subnormals included; narrowing
// rounds to nearest even, subnormals are kept and overflow gives infinity. Each NaN becomes one
// NaN: 0x7fffffff in float32, 0x7fff in f16 and bf16.
inline constexpr uint32_t canonical_nan = 0x7fffffffU;
inline constexpr uint16_t canonical_nan16 = 0x7fff;

GDN_DEVICE float half_to_float(uint16_t half) {
  return (half & 0x7fff) > 0x7c00 ? bits_float(canonical_nan) : widen_half(half);
}
GDN_DEVICE uint16_t float_to_half(float x) { return x != x ? canonical_nan16 : narrow_half(x); }
GDN_DEVICE float bfloat16_to_float(uint16_t bits) {
  return (bits & 0x7fff) > 0x7f80 ? bits_float(canonical_nan)
                                  : bits_float(static_cast<uint32_t>(bits) << 16);
}
GDN_DEVICE uint16_t float_to_bfloat16(float x) {
  if (x != x) return canonical_nan16;
  const uint32_t bits = float_bits(x);
  // Adding just under half of the last place kept, and one more where that place is odd, carries
  // into it exactly when rounding to nearest even goes up.
  return static_cast<uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

// Sum over the lanes of a full warp, the same bits in every lane: i and i + 16 first, then 8, ...
GDN_DEVICE float warp_sum(float value, Site site = here()) {
  GDN_UNROLL
  for (int distance = warp_size / 2; distance > 0; distance /= 2) {
    value += shuffle_xor(full_mask, value, distance, site);
  }
  return value;
}

}  // namespace gdn::inline GDN_MACHINE
