// cuBLAS by dlopen. Its numbers for operations and types are those of its ABI since 11.0.
#include "tests/bench/gpu_cublas.h"

#include <dlfcn.h>
#include <library_types.h>

#include <vector>

#include "tests/bench/gpu_arrays.h"
#include "tests/bench/gpu_timing.cuh"

namespace gdn::gpu {
namespace {

constexpr int as_it_is = 0, transposed = 1;  // cublasOperation_t
constexpr int compute_float32 = 68;          // cublasComputeType_t
constexpr int any_algorithm = -1;            // cublasGemmAlgo_t

using Create = int (*)(void** handle);
using Destroy = int (*)(void* handle);
using SetStream = int (*)(void* handle, cudaStream_t stream);
using GemmEx = int (*)(void* handle, int a_operation, int b_operation, int m, int n, int k,
                       const void* alpha, const void* a, cudaDataType a_type, int a_stride,
                       const void* b, cudaDataType b_type, int b_stride, const void* beta, void* c,
                       cudaDataType c_type, int c_stride, int compute, int algorithm);

template <class Function>
Function function_of(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

CublasBf16::CublasBf16() {
  for (const char* const name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so",
                                 "/usr/local/cuda/lib64/libcublas.so"}) {
    if (library_ == nullptr) library_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (library_ == nullptr) {
    why_not_ = "libcublas is not on this machine";
    return;
  }
  const auto create = function_of<Create>(library_, "cublasCreate_v2");
  const int status = create != nullptr ? create(&handle_) : -1;
  if (status == 0) return;
  handle_ = nullptr;
  why_not_ = "cublasCreate gives " + std::to_string(status);
}

CublasBf16::~CublasBf16() {
  if (handle_ != nullptr) function_of<Destroy>(library_, "cublasDestroy_v2")(handle_);
}

double CublasBf16::time(int64_t rows, int64_t cols, const Timer& timer, int repeats) {
  constexpr size_t matrices = 6;
  const auto set_stream = function_of<SetStream>(library_, "cublasSetStream_v2");
  const auto gemm = function_of<GemmEx>(library_, "cublasGemmEx");
  // Of 32 random bits two bf16 numbers are made: any are, but for the few that are not finite.
  std::vector<float*> weights;
  for (size_t i = 0; i < matrices; ++i) {
    weights.push_back(random_floats(rows * cols / 2, 7000 + i, 0x1p-5F));
  }
  float* const x = random_floats(cols / 2, 7100);
  float* const y = random_floats(rows, 7101);
  require(cudaDeviceSynchronize(), "filling");
  const float one = 1, zero = 0;
  int status = 0;
  const Times times = timer.time_graph(repeats, [&](cudaStream_t stream) {
    status |= set_stream(handle_, stream);
    for (float* const w : weights) {
      const auto m = static_cast<int>(rows), k = static_cast<int>(cols);
      status |= gemm(handle_, transposed, as_it_is, m, 1, k, &one, w, CUDA_R_16BF, k, x,
                     CUDA_R_16BF, k, &zero, y, CUDA_R_32F, m, compute_float32, any_algorithm);
    }
  });
  for (float* const w : weights) require(cudaFree(w), "cudaFree");
  require(cudaFree(x), "cudaFree");
  require(cudaFree(y), "cudaFree");
  if (status == 0) return times.median / static_cast<double>(matrices);
  why_not_ = "cublasGemmEx gives " + std::to_string(status);
  return 0;
}

}  // namespace gdn::gpu
