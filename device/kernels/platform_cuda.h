// The GPU's half of platform.h, which includes it: the primitives as CUDA has them, at no cost.
// Pointers are raw pointers in a struct, an element is a reference, a source place is nothing.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace gdn::inline on_cuda {

struct Site {};
GDN_DEVICE constexpr Site here() { return {}; }

template <class T>
struct global {
  T* address;
  template <class I>
  GDN_DEVICE T& operator[](I i) const {
    return address[i];
  }
  template <class I>
  GDN_HOST_DEVICE global operator+(I n) const {
    return {address + n};
  }
  template <std::same_as<const T> U>
  GDN_HOST_DEVICE operator global<U>() const {
    return {address};
  }
  GDN_HOST_DEVICE bool present() const { return address != nullptr; }
};

template <class T>
struct shared {
  T* address;
  template <class I>
  GDN_DEVICE T& operator[](I i) const {
    return address[i];
  }
  template <class I>
  GDN_DEVICE shared operator+(I n) const {
    return {address + n};
  }
  template <class U>
  requires std::is_same_v<U, const T> GDN_DEVICE operator shared<U>() const { return {address}; }
};

// The same bytes as elements of another type.
template <class U, class T>
GDN_DEVICE global<U> as(global<T> p) {
  return {reinterpret_cast<U*>(p.address)};
}
template <class U, class T>
GDN_DEVICE shared<U> as(shared<T> p) {
  return {reinterpret_cast<U*>(p.address)};
}

#define GDN_SHARED(type, name, count)                  \
  __shared__ __align__(16) type name##_storage[count]; \
  const ::gdn::shared<type> name { name##_storage }

template <class T>
GDN_DEVICE shared<T> dynamic_shared(int64_t offset_bytes = 0, Site = {}) {
  extern __shared__ __align__(16) unsigned char gdn_dynamic_shared_bytes[];
  return {reinterpret_cast<T*>(gdn_dynamic_shared_bytes + offset_bytes)};
}

GDN_DEVICE int thread_index() { return static_cast<int>(threadIdx.x); }
GDN_DEVICE int thread_count() { return static_cast<int>(blockDim.x); }
GDN_DEVICE int block_index() { return static_cast<int>(blockIdx.x); }
GDN_DEVICE int block_index_y() { return static_cast<int>(blockIdx.y); }
GDN_DEVICE int block_count() { return static_cast<int>(gridDim.x); }
GDN_DEVICE int block_count_y() { return static_cast<int>(gridDim.y); }

GDN_DEVICE void barrier(Site = {}) { __syncthreads(); }
GDN_DEVICE void syncwarp(uint32_t mask = full_mask, Site = {}) { __syncwarp(mask); }
template <class T>
GDN_DEVICE T shuffle(uint32_t mask, T value, int source, Site = {}) {
  return __shfl_sync(mask, value, source);
}
template <class T>
GDN_DEVICE T shuffle_xor(uint32_t mask, T value, int lane_bits, Site = {}) {
  return __shfl_xor_sync(mask, value, lane_bits);
}
template <class T>
GDN_DEVICE T shuffle_down(uint32_t mask, T value, int distance, Site = {}) {
  return __shfl_down_sync(mask, value, static_cast<unsigned>(distance));
}
template <class T>
GDN_DEVICE T shuffle_up(uint32_t mask, T value, int distance, Site = {}) {
  return __shfl_up_sync(mask, value, static_cast<unsigned>(distance));
}
// Over the lanes of a full warp, in every lane: pairs of neighbours, then pairs of pairs, ... One
// operation, as a simulated one costs as much as a shuffle does.
GDN_DEVICE float warp_tree_sum(float value, Site = {}) {
  GDN_UNROLL
  for (int distance = 1; distance < warp_size; distance *= 2) {
    value += __shfl_xor_sync(full_mask, value, distance);
  }
  return value;
}

// What the block's threads do from one place where they meet to the next, each with what it keeps.
template <class Kept>
class Steps {
 public:
  template <class Step>
  GDN_DEVICE void operator()(const Step& step) {
    step(kept_);
  }
  GDN_DEVICE void barrier() { on_cuda::barrier(); }
  GDN_DEVICE void warp_tree_sum() { kept_ = on_cuda::warp_tree_sum(kept_); }

 private:
  Kept kept_ = {};
};

GDN_DEVICE uint32_t ballot(uint32_t mask, bool predicate, Site = {}) {
  return __ballot_sync(mask, predicate);
}

// The machine's word of each access size.
template <int bytes>
struct WordOf;
template <>
struct WordOf<1> {
  using type = unsigned char;
};
template <>
struct WordOf<2> {
  using type = unsigned short;
};
template <>
struct WordOf<4> {
  using type = unsigned int;
};
template <>
struct WordOf<8> {
  using type = uint2;
};
template <>
struct WordOf<16> {
  using type = uint4;
};

template <class T, int N>
using PackOf = Pack<std::remove_const_t<T>, N>;
template <class T, int N>
using WordsOf = typename WordOf<sizeof(T) * N>::type;

template <int N, class T>
GDN_DEVICE const WordsOf<T, N>* word_at(T* p) {
  return reinterpret_cast<const WordsOf<T, N>*>(p);
}

template <int N, template <class> class Pointer, class T>
GDN_DEVICE PackOf<T, N> load(const Pointer<T>& p, int64_t i, Site = {}) {
  return __builtin_bit_cast(PackOf<T, N>, *word_at<N>(p.address + i));
}
// Read once: first to leave the cache.
template <int N, class T>
GDN_DEVICE PackOf<T, N> load_streaming(global<T> p, int64_t i, Site = {}) {
  return __builtin_bit_cast(PackOf<T, N>, __ldcs(word_at<N>(p.address + i)));
}
// As launches that have ended left it, read by one that began early: a multiprocessor's own cache
// may still have numbers of before.
template <int N, class T>
GDN_DEVICE PackOf<T, N> load_coherent(global<T> p, int64_t i, Site = {}) {
  return __builtin_bit_cast(PackOf<T, N>, __ldcg(word_at<N>(p.address + i)));
}
template <int N, template <class> class Pointer, class T>
GDN_DEVICE void store(const Pointer<T>& p, int64_t i, const Pack<T, N>& values, Site = {}) {
  using Word = WordsOf<T, N>;
  *reinterpret_cast<Word*>(p.address + i) = __builtin_bit_cast(Word, values);
}

// What is read once is the first to leave the L2 cache.
GDN_DEVICE uint64_t read_once() {
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

// Copies of N elements, 8 or 16 bytes, read once, that go on beside the calling thread: those that
// it has asked for since it last closed a set are one set; once it has waited until at most `sets`
// of its own are under way the others have arrived, for it, and for others after a syncwarp or a
// barrier.
template <int N, class T>
GDN_DEVICE void copy_async(const shared<T>& to, int64_t to_index, const global<const T>& from,
                           int64_t from_index, Site = {}) {
  constexpr int bytes = N * sizeof(T);
  // Of 4 bytes, with a policy of the cache, CUDA 13.0 makes an instruction that is none.
  static_assert(bytes == 8 || bytes == 16);
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(to.address + to_index));
  const T* const source = from.address + from_index;
  const uint64_t policy = read_once();
  if constexpr (bytes == 16) {
    asm volatile("cp.async.cg.shared.global.L2::cache_hint.L2::128B [%0], [%1], 16, %2;" ::"r"(at),
                 "l"(source), "l"(policy)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], 8, %2;" ::"r"(at),
                 "l"(source), "l"(policy)
                 : "memory");
  }
}
GDN_DEVICE void close_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int sets>
GDN_DEVICE void wait_for_copies(Site = {}) {
  asm volatile("cp.async.wait_group %0;" ::"n"(sets) : "memory");
}

// Not read again soon: first to leave the cache.
template <int N, class T>
GDN_DEVICE void store_streaming(global<T> p, int64_t i, const Pack<T, N>& values, Site = {}) {
  using Word = WordsOf<T, N>;
  __stcs(reinterpret_cast<Word*>(p.address + i), __builtin_bit_cast(Word, values));
}

// The next launch may begin once a thread of each block has said so, or the block has ended.
GDN_DEVICE void let_next_launch_begin() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
// A launch may begin before the one before it has ended. What that one writes is there after this,
// and the next launch may begin, which so never overlaps any but the one before it.
GDN_DEVICE void wait_for_launches_before() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  let_next_launch_begin();
}

template <template <class> class Pointer, class T>
GDN_DEVICE T atomic_add(const Pointer<T>& p, int64_t i, std::type_identity_t<T> value, Site = {}) {
  return atomicAdd(p.address + i, value);
}

GDN_DEVICE uint32_t float_bits(float x) { return __float_as_uint(x); }
GDN_DEVICE float bits_float(uint32_t bits) { return __uint_as_float(bits); }
GDN_DEVICE float fused_multiply_add(float a, float b, float c) { return __fmaf_rn(a, b, c); }
GDN_DEVICE float square_root(float x) { return __fsqrt_rn(x); }
// (x & mask) ^ flips in one instruction: of two constants the compiler would make two.
GDN_DEVICE uint32_t and_xor(uint32_t x, uint32_t mask, uint32_t flips) {
  uint32_t y;
  asm("lop3.b32 %0, %1, %2, %3, 0x6a;" : "=r"(y) : "r"(x), "r"(mask), "r"(flips));
  return y;
}
GDN_DEVICE int32_t dp4a(int32_t a, int32_t b, int32_t c) { return __dp4a(a, b, c); }
// Of 8 bytes, b's above a's, those that the four lowest nibbles of `chosen` name, the lowest first.
GDN_DEVICE uint32_t permute_bytes(uint32_t a, uint32_t b, uint32_t chosen) {
  return __byte_perm(a, b, chosen);
}
// The product of a full warp's operands of signed bytes, [16][32] and [32][8], exactly. Lane
// 4 r + c brings left bytes 4 c to 4 c + 3 of rows r and r + 8, then those 16 further on; right
// bytes of the same indices of column r; and takes columns 2 c and 2 c + 1 of rows r and r + 8.
GDN_DEVICE Pack<int32_t, 4> matrix_product_s8(const Pack<uint32_t, 4>& left,
                                              const Pack<uint32_t, 2>& right, Site = {}) {
  Pack<int32_t, 4> sums;
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%10,%10,%10,%10};"
      : "=r"(sums[0]), "=r"(sums[1]), "=r"(sums[2]), "=r"(sums[3])
      : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]),
        "r"(0));
  return sums;
}
// 1 / x and 1 / sqrt(x) of a normal number, within 2^-18: not the same bits on every machine.
GDN_HOST_DEVICE inline double reciprocal_seed(double x) {
#ifdef __CUDA_ARCH__
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  return r;
#else
  return 1.0 / x;
#endif
}
GDN_HOST_DEVICE inline double rsqrt_seed(double x) {
#ifdef __CUDA_ARCH__
  double r;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  return r;
#else
  return 1.0 / std::sqrt(x);
#endif
}
GDN_DEVICE int32_t to_int_toward_zero(float x) { return __float2int_rz(x); }
GDN_DEVICE int32_t to_int_nearest_even(float x) { return __float2int_rn(x); }
GDN_DEVICE float round_half_away(float x) { return roundf(x); }

GDN_DEVICE float widen_half(uint16_t half) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(half));
  return x;
}
GDN_DEVICE uint16_t narrow_half(float x) {
  uint16_t half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(x));
  return half;
}

template <auto kernel, class P, int threads_max>
__global__ void __launch_bounds__(threads_max, blocks_at_once_min<kernel>)
    entry(const __grid_constant__ P params) {
  if constexpr (next_begins_with_it<kernel>) let_next_launch_begin();
  if constexpr (!begins_early<kernel>) wait_for_launches_before();
  kernel(params);
}

// Queues a launch; the status is that of the launch itself, as cudaLaunchKernelEx gives it.
template <auto kernel, int threads_max = block_threads_max<kernel>>
cudaError_t launch(cudaStream_t stream, const LaunchShape& shape, const Params<kernel>& params) {
  constexpr unsigned shared_bytes_without_asking = 48 * 1024;
  auto* const function = entry<kernel, Params<kernel>, threads_max>;
  if (shape.shared_bytes > shared_bytes_without_asking) {
    const cudaError_t asked =
        cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(shape.shared_bytes));
    if (asked != cudaSuccess) return asked;
  }
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(shape.blocks, shape.blocks_y);
  config.blockDim = dim3(shape.threads);
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, function, params);
}

}  // namespace gdn::inline on_cuda
