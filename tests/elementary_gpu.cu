// Runs device/kernels/elementary.cuh on a GPU over every float32 pattern and prints the checksums
// to compare with those of elementary_exhaustive; the hardware's f16 conversion against the
// software one over every pattern; and the seeds of 1 / x and 1 / sqrt(x) against what is asked of
// them. Exit status 1 where one is wrong; without a stride, checksums are compared with those of
// the search.
//   elementary_gpu [STRIDE]
#include <cuda_runtime.h>

#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "device/kernels/elementary.cuh"
#include "device/kernels/half.cuh"
#include "tests/elementary_checksum.h"

namespace gdn {
namespace {

void require(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(5);
}

struct Exp {
  static constexpr const char* name = "exp";
  static __device__ float at(float x) { return exp_f32(x); }
};
struct Log1p {
  static constexpr const char* name = "log1p";
  static __device__ float at(float x) { return log1p_f32(x); }
};
struct Sigmoid {
  static constexpr const char* name = "sigmoid";
  static __device__ float at(float x) { return sigmoid_f32(x); }
};
struct Rsqrt {
  static constexpr const char* name = "rsqrt";
  static __device__ float at(float x) { return rsqrt_f32(x); }
};
struct Softplus {
  static constexpr const char* name = "softplus";
  static __device__ float at(float x) { return softplus_f32(x); }
};
struct Silu {
  static constexpr const char* name = "silu";
  static __device__ float at(float x) { return silu_f32(x); }
};

// Each thread takes every (threads in the grid)-th argument.
template <class Function>
__global__ void sum_terms(uint64_t stride, unsigned long long* checksum) {
  constexpr uint64_t patterns = uint64_t{1} << 32;
  const uint64_t thread = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const uint64_t step = uint64_t{gridDim.x} * blockDim.x * stride;
  uint64_t sum = 0;
  for (uint64_t bits = thread * stride; bits < patterns; bits += step) {
    const float result = Function::at(__uint_as_float(static_cast<uint32_t>(bits)));
    sum += checksum_term(static_cast<uint32_t>(bits), __float_as_uint(result));
  }
  atomicAdd(checksum, sum);
}

__global__ void compare_f16(unsigned* differing) {
  const uint16_t pattern = static_cast<uint16_t>(blockIdx.x * blockDim.x + threadIdx.x);
  const uint32_t hardware = __float_as_uint(half_to_float(pattern));
  const uint32_t software = __float_as_uint(half_to_float_by_integers(pattern));
  if (hardware != software) atomicAdd(differing, 1U);
}

// The errors of the seeds of 1 / x, at both ends of each interval of numbers that share exponent
// and 25 bits, for 1 <= x < 2^126, and of 1 / sqrt(x) for every normal float32 number. Patterns of
// float32 numbers above 0 are ordered as they are, and NaN is above all.
__global__ void worst_seeds(unsigned* worst) {
  constexpr uint64_t patterns = uint64_t{1} << 32;
  const uint64_t step = uint64_t{gridDim.x} * blockDim.x;
  double reciprocal = 0;
  double rsqrt = 0;
  const auto raise = [](double* most, double error) {
    if (!(std::fabs(error) <= *most)) *most = std::fabs(error);
  };
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < patterns; i += step) {
    const uint64_t exponent = 1023 + i % 128;
    const uint64_t first = exponent << 52 | i >> 7 << 27;
    for (const uint64_t bits : {first, first | ((1U << 27) - 1)}) {
      const double x = elementary::double_of(bits);
      if (x < 0x1p126) raise(&reciprocal, 1.0 - elementary::MachineSeeds::reciprocal(x) * x);
    }
    const float x = __uint_as_float(static_cast<uint32_t>(i));
    if (x < 0x1p-126F || !(x <= 0x1.fffffep127F)) continue;
    const double r = elementary::MachineSeeds::rsqrt(x);
    raise(&rsqrt, 0.5 * (1.0 - r * r * x));
  }
  atomicMax(&worst[0], __float_as_uint(__double2float_ru(reciprocal)));
  atomicMax(&worst[1], __float_as_uint(__double2float_ru(rsqrt)));
}

bool report_seeds() {
  unsigned* worst = nullptr;
  float got[2] = {};
  require(cudaMalloc(&worst, sizeof got), "cudaMalloc");
  require(cudaMemset(worst, 0, sizeof got), "cudaMemset");
  worst_seeds<<<2048, 256>>>(worst);
  require(cudaGetLastError(), "launch");
  require(cudaMemcpy(got, worst, sizeof got, cudaMemcpyDeviceToHost), "cudaMemcpy");
  require(cudaFree(worst), "cudaFree");
  std::printf("seeds: of 1/x within 2^%.3f, of 1/sqrt(x) within 2^%.3f; 2^-18 is allowed\n",
              std::log2(static_cast<double>(got[0])), std::log2(static_cast<double>(got[1])));
  return got[0] <= 0x1p-18F && got[1] <= 0x1p-18F;
}

// Returns whether the checksum of all arguments is the known one.
template <class Function>
bool report(uint64_t stride, unsigned long long* checksum) {
  cudaEvent_t start;
  cudaEvent_t stop;
  require(cudaEventCreate(&start), "cudaEventCreate");
  require(cudaEventCreate(&stop), "cudaEventCreate");
  require(cudaMemset(checksum, 0, sizeof *checksum), "cudaMemset");
  require(cudaEventRecord(start), "cudaEventRecord");
  sum_terms<Function><<<2048, 256>>>(stride, checksum);
  require(cudaGetLastError(), "launch");
  require(cudaEventRecord(stop), "cudaEventRecord");
  require(cudaEventSynchronize(stop), "cudaEventSynchronize");
  unsigned long long sum = 0;
  float milliseconds = 0;
  require(cudaMemcpy(&sum, checksum, sizeof sum, cudaMemcpyDeviceToHost), "cudaMemcpy");
  require(cudaEventElapsedTime(&milliseconds, start, stop), "cudaEventElapsedTime");
  const uint64_t arguments = ((uint64_t{1} << 32) + stride - 1) / stride;
  std::printf("%-9s %11" PRIu64 "  %016llx  %8.3f ms  %.1f G/s\n", Function::name, arguments, sum,
              static_cast<double>(milliseconds),
              static_cast<double>(arguments) / static_cast<double>(milliseconds) * 1e-6);
  require(cudaEventDestroy(start), "cudaEventDestroy");
  require(cudaEventDestroy(stop), "cudaEventDestroy");
  if (is_known_or_partial(Function::name, stride, sum)) return true;
  std::printf("          not the checksum of the search\n");
  return false;
}

bool report_f16() {
  unsigned* differing = nullptr;
  unsigned got = 0;
  require(cudaMalloc(&differing, sizeof got), "cudaMalloc");
  require(cudaMemset(differing, 0, sizeof got), "cudaMemset");
  compare_f16<<<256, 256>>>(differing);
  require(cudaGetLastError(), "launch");
  require(cudaMemcpy(&got, differing, sizeof got, cudaMemcpyDeviceToHost), "cudaMemcpy");
  require(cudaFree(differing), "cudaFree");
  std::printf("f16: of 65536 patterns %u differ between hardware and software\n", got);
  return got == 0;
}

}  // namespace
}  // namespace gdn

int main(int count, char** arguments) {
  const uint64_t stride = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1;
  if (stride == 0) {
    std::fprintf(stderr, "usage: elementary_gpu [STRIDE]\n");
    return 2;
  }
  cudaDeviceProp properties;
  gdn::require(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  std::printf("%s, sm_%d%d\nfunction    arguments  checksum\n", properties.name, properties.major,
              properties.minor);
  unsigned long long* checksum = nullptr;
  gdn::require(cudaMalloc(&checksum, sizeof *checksum), "cudaMalloc");
  bool right = gdn::report<gdn::Exp>(stride, checksum);
  right &= gdn::report<gdn::Log1p>(stride, checksum);
  right &= gdn::report<gdn::Sigmoid>(stride, checksum);
  right &= gdn::report<gdn::Rsqrt>(stride, checksum);
  right &= gdn::report<gdn::Softplus>(stride, checksum);
  right &= gdn::report<gdn::Silu>(stride, checksum);
  gdn::require(cudaFree(checksum), "cudaFree");
  right &= gdn::report_f16();
  right &= gdn::report_seeds();
  return right ? 0 : 1;
}
