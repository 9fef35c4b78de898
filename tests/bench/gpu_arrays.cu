// Filling arrays on the GPU, and the arrays of a layer and of a token.
#include "tests/bench/gpu_arrays.h"

#include <algorithm>

#include "tests/bench/gpu_timing.cuh"

namespace gdn::gpu {
namespace {

__device__ uint64_t mixed(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

// Uniform in [-scale, scale).
__global__ void fill_floats(float* to, uint64_t count, uint64_t seed, float scale) {
  const uint64_t step = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const uint64_t z = mixed(seed + i * 0x9e3779b97f4a7c15U);
    to[i] = scale * (static_cast<float>(static_cast<int64_t>(z >> 40)) * 0x1p-23F - 1.0F);
  }
}

// Any nibbles; scales of 2^-9 to 2^-8 of either sign: rows of 5120 weights have a norm of about 1.
__global__ void fill_tiles(uint32_t* to, uint64_t words, uint64_t seed) {
  constexpr uint64_t tile_words = 18;
  const uint64_t step = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words; i += step) {
    const auto word = static_cast<uint32_t>(mixed(seed + i * 0x9e3779b97f4a7c15U) >> 32);
    const bool is_scales = i % tile_words < 2;
    to[i] = is_scales ? (word & 0x83ff83ffU) | 0x18001800U : word;
  }
}

constexpr unsigned fill_blocks = 2048;

}  // namespace

float* random_floats(int64_t count, uint64_t seed, float scale) {
  const auto size = static_cast<uint64_t>(count);
  float* const to = fresh<float>(size);
  fill_floats<<<fill_blocks, 256>>>(to, size, seed << 40, scale);
  require(cudaGetLastError(), "fill");
  return to;
}

uint64_t tile_bytes(int64_t rows, int64_t cols) {
  return static_cast<uint64_t>(rows * (cols / 32) * 18);
}

namespace {

uint8_t* random_tiles(int64_t rows, int64_t cols, uint64_t seed) {
  const uint64_t bytes = tile_bytes(rows, cols);
  uint8_t* const to = fresh<uint8_t>(bytes);
  fill_tiles<<<fill_blocks, 256>>>(reinterpret_cast<uint32_t*>(to), bytes / 4, seed << 40);
  require(cudaGetLastError(), "fill");
  return to;
}

}  // namespace

LayerArrays layer_arrays(const Shape& s, uint64_t layer) {
  const uint64_t seed = 16 * (layer + 1);
  LayerArrays arrays = {};
  // One array, with room for as many bytes as b and a have: a plain read takes all of in_proj's.
  const int64_t rows_of_b_and_a = (2 * s.num_v_heads * 32 + 17) / 18 * 4;
  const int64_t rows = s.conv_dim() + s.v_dim() + rows_of_b_and_a;
  arrays.qkv = random_tiles(rows, s.hidden_size, seed);
  arrays.z = arrays.qkv + tile_bytes(s.conv_dim(), s.hidden_size);
  arrays.out = random_tiles(s.hidden_size, s.v_dim(), seed + 2);
  arrays.b = random_floats(s.num_v_heads * s.hidden_size, seed + 3, 0x1p-5F);
  arrays.a = random_floats(s.num_v_heads * s.hidden_size, seed + 4, 0x1p-5F);
  arrays.conv = random_floats(s.conv_dim() * s.conv_kernel, seed + 5);
  arrays.A_log = random_floats(s.num_v_heads, seed + 6);
  arrays.dt_bias = random_floats(s.num_v_heads, seed + 7);
  arrays.norm = random_floats(s.head_v_dim, seed + 8);
  arrays.S = random_floats(s.state_count(), seed + 9);
  arrays.history = random_floats(s.history_count(), seed + 10);
  return arrays;
}

void free_layer(const LayerArrays& l) {
  for (void* const memory :
       {static_cast<void*>(l.qkv), static_cast<void*>(l.out), static_cast<void*>(l.b),
        static_cast<void*>(l.a), static_cast<void*>(l.conv), static_cast<void*>(l.A_log),
        static_cast<void*>(l.dt_bias), static_cast<void*>(l.norm), static_cast<void*>(l.S),
        static_cast<void*>(l.history)}) {
    require(cudaFree(memory), "cudaFree");
  }
}

TokenArrays token_arrays(const Shape& s) {
  TokenArrays t = {};
  t.h = random_floats(s.hidden_size, 1);
  t.qkv = random_floats(s.conv_dim(), 2);
  t.z = random_floats(s.v_dim(), 3);
  t.a = random_floats(s.num_v_heads, 4);
  t.b = random_floats(s.num_v_heads, 5);
  t.beta = random_floats(s.num_v_heads, 6);
  t.g = random_floats(s.num_v_heads, 7);
  t.decay = random_floats(s.num_v_heads, 15);
  t.conv = random_floats(s.conv_dim(), 8);
  t.q = random_floats(s.k_dim(), 9);
  t.k = random_floats(s.k_dim(), 10);
  t.o = random_floats(s.v_dim(), 11);
  t.normed = random_floats(s.v_dim(), 12);
  t.rounded = random_floats(std::max(s.v_dim(), s.hidden_size), 13);
  t.out = random_floats(s.hidden_size, 14);
  return t;
}

}  // namespace gdn::gpu
