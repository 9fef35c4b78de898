// Kernels with one fault each, which a checker of GPU programs must report: a checker that is
// silent here shows nothing where it is silent elsewhere.
//   planted_faults memcheck|racecheck|initcheck|synccheck
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

namespace {

constexpr int threads = 64;

// Writes one element beyond the last.
__global__ void out_of_bounds(int* to) { to[threadIdx.x + 1] = static_cast<int>(threadIdx.x); }

// Two warps exchange numbers through shared memory with no barrier between.
__global__ void unordered(int* to) {
  __shared__ int numbers[threads];
  const int i = static_cast<int>(threadIdx.x);
  numbers[i] = i;
  to[i] = numbers[threads - 1 - i];
}

// Reads what nobody has written.
__global__ void uninitialised(const int* from, int* to) {
  const int i = static_cast<int>(threadIdx.x);
  to[i] = from[i] + 1;
}

// A lane waits at a barrier of lanes that it is not one of.
__global__ void not_of_the_mask(int* to) {
  const int i = static_cast<int>(threadIdx.x);
  const unsigned mask = __ballot_sync(0xffffffffU, i < 16);
  if (i <= 16) __syncwarp(mask);
  to[i] = i;
}

// Half of the block's warps never come to its barrier.
__global__ void divergent(int* to) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < threads / 2 - 8) __syncthreads();
  to[i] = i;
}

int complain(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return 0;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  return 1;
}

}  // namespace

int main(int count, char** arguments) {
  const char* const which = count == 2 ? arguments[1] : "";
  int* from = nullptr;
  int* to = nullptr;
  if (complain(cudaMalloc(&from, threads * sizeof(int)), "cudaMalloc") != 0) return 5;
  if (complain(cudaMalloc(&to, threads * sizeof(int)), "cudaMalloc") != 0) return 5;
  if (std::strcmp(which, "memcheck") == 0) {
    out_of_bounds<<<1, threads>>>(to);
  } else if (std::strcmp(which, "racecheck") == 0) {
    unordered<<<1, threads>>>(to);
  } else if (std::strcmp(which, "initcheck") == 0) {
    uninitialised<<<1, threads>>>(from, to);
  } else if (std::strcmp(which, "synccheck") == 0) {
    not_of_the_mask<<<1, 32>>>(to);
    complain(cudaDeviceSynchronize(), "a lane outside the mask");
    divergent<<<1, threads>>>(to);
  } else {
    std::fprintf(stderr, "usage: planted_faults memcheck|racecheck|initcheck|synccheck\n");
    return 2;
  }
  complain(cudaGetLastError(), "launch");
  complain(cudaDeviceSynchronize(), "kernel");
  return 0;
}
