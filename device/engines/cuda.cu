// The engine over the CUDA runtime, on the GPU that is current when it is opened. Every call is
// checked: memory that is not there is GDN_OUT_OF_MEMORY, a fault that poisons the context is
// GDN_LOST for ever, anything else GDN_INTERNAL. All memory is plain cudaMalloc.
#include "device/engines/cuda.h"

#include <cuda_runtime.h>

#include <cinttypes>

#include "device/host/kernel_table.h"

namespace gdn::host {
namespace {

struct Kernel {
  cudaError_t (*launch)(cudaStream_t, const LaunchShape&, const void* params) = nullptr;
  size_t params_bytes = 0;
};

template <auto kernel>
struct GpuKernel {
  static cudaError_t run(cudaStream_t stream, const LaunchShape& shape, const void* params) {
    return launch<kernel>(stream, shape, *static_cast<const Params<kernel>*>(params));
  }
  static constexpr Kernel value = {run, sizeof(Params<kernel>)};
};
constexpr auto kernels_by_id = kernel_table<Kernel, GpuKernel>();

// The pattern's bytes in order, cut where the memory ends within a word.
__global__ void fill_bytes(unsigned char* to, uint64_t bytes, uint32_t pattern) {
  const uint64_t step = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < bytes; i += step) {
    to[i] = static_cast<unsigned char>(pattern >> (8 * (i % 4)));
  }
}

// Work for one GPU whatever the calling thread has made current; that is as it was afterwards.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    cudaGetDevice(&before_);
    changed_ = before_ != device;
    if (changed_) cudaSetDevice(device);
  }
  ~OnDevice() {
    if (changed_) cudaSetDevice(before_);
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
};

struct Instantiated final : Graph {
  explicit Instantiated(int on_device) : device(on_device) {}
  ~Instantiated() override {
    const OnDevice here(device);
    if (executable != nullptr) cudaGraphExecDestroy(executable);
  }
  int device;
  cudaGraphExec_t executable = nullptr;
};

class CudaBackend final : public Backend {
 public:
  CudaBackend(const BackendOptions& options, int device) : options_(options), device_(device) {}
  ~CudaBackend() override;
  Status open();

  Status allocate(uint64_t bytes, Use use, const char* name, void** memory) override;
  Status release(void* memory) override;
  Status write(void* to, const void* from_host, uint64_t bytes) override;
  Status read(void* to_host, const void* from, uint64_t bytes) override;
  Status copy(void* to, const void* from, uint64_t bytes) override;
  Status zero(void* to, uint64_t bytes) override;
  Status launch(KernelId id, const LaunchShape& shape, const void* params,
                size_t params_bytes) override;
  Status synchronise() override;

  Status begin_capture() override;
  Status end_capture(std::unique_ptr<Graph>* graph) override;
  Status replay(const Graph& graph) override;
  bool replay_is_atomic() const override { return true; }

 private:
  Status status_of(cudaError_t error, const char* what);

  BackendOptions options_;
  int device_;
  uint64_t memory_bytes_ = 0;
  cudaStream_t stream_ = nullptr;
  bool capturing_ = false;
};

CudaBackend::~CudaBackend() {
  const OnDevice here(device_);
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

Status CudaBackend::open() {
  const OnDevice here(device_);
  cudaDeviceProp properties;
  cudaError_t error = cudaGetDeviceProperties(&properties, device_);
  if (error != cudaSuccess) return status_of(error, "cudaGetDeviceProperties");
  memory_bytes_ = properties.totalGlobalMem;
  cudaFuncAttributes attributes;
  error = cudaFuncGetAttributes(&attributes, fill_bytes);
  if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction ||
      error == cudaErrorUnsupportedPtxVersion) {
    cudaGetLastError();
    return failure(GDN_NOT_AVAILABLE,
                   "%s has compute capability %d.%d, for which this program has no code: %s",
                   properties.name, properties.major, properties.minor, cudaGetErrorString(error));
  }
  if (error != cudaSuccess) return status_of(error, "cudaFuncGetAttributes");
  return status_of(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
                   "cudaStreamCreateWithFlags");
}

// An error that a plain call still meets after it was taken note of has poisoned the context.
// (While a stream is recorded no such call is allowed; the end of the recording asks.)
Status CudaBackend::status_of(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return {};
  cudaGetLastError();
  const char* const text = cudaGetErrorString(error);
  if (!capturing_) {
    const cudaError_t after =
        stream_ == nullptr ? cudaDeviceSynchronize() : cudaStreamSynchronize(stream_);
    if (after != cudaSuccess) {
      return failure(GDN_LOST, "the GPU is lost: %s: %s", what, text);
    }
  }
  if (error == cudaErrorMemoryAllocation) {
    return failure(GDN_OUT_OF_MEMORY, "%s: %s", what, text);
  }
  return failure(GDN_INTERNAL, "%s: %s", what, text);
}

Status CudaBackend::allocate(uint64_t bytes, Use, const char* name, void** memory) {
  const OnDevice here(device_);
  *memory = nullptr;
  // What is beyond the GPU's memory, and perhaps beyond an address, is not asked for.
  const cudaError_t error =
      bytes <= memory_bytes_ ? cudaMalloc(memory, bytes) : cudaErrorMemoryAllocation;
  if (error != cudaSuccess) {
    const Status status = status_of(error, "cudaMalloc");
    if (status.code != GDN_OUT_OF_MEMORY) return status;
    return failure(GDN_OUT_OF_MEMORY, "%s: cudaMalloc of %" PRIu64 " bytes: %s", name, bytes,
                   cudaGetErrorString(error));
  }
  if (!options_.fill) return {};
  constexpr unsigned blocks = 1024;
  constexpr unsigned threads = 256;
  fill_bytes<<<blocks, threads, 0, stream_>>>(static_cast<unsigned char*>(*memory), bytes,
                                              options_.fill_pattern);
  const Status filled = status_of(cudaGetLastError(), "filling fresh memory");
  if (!filled.ok()) cudaFree(*memory);
  return filled;
}

Status CudaBackend::release(void* memory) {
  const OnDevice here(device_);
  return status_of(cudaFree(memory), "cudaFree");
}

Status CudaBackend::write(void* to, const void* from_host, uint64_t bytes) {
  const OnDevice here(device_);
  return status_of(cudaMemcpyAsync(to, from_host, bytes, cudaMemcpyHostToDevice, stream_),
                   "copying to the GPU");
}

Status CudaBackend::read(void* to_host, const void* from, uint64_t bytes) {
  const OnDevice here(device_);
  const cudaError_t queued = cudaMemcpyAsync(to_host, from, bytes, cudaMemcpyDeviceToHost, stream_);
  if (queued != cudaSuccess) return status_of(queued, "copying from the GPU");
  return status_of(cudaStreamSynchronize(stream_), "waiting for the GPU");
}

Status CudaBackend::copy(void* to, const void* from, uint64_t bytes) {
  const OnDevice here(device_);
  return status_of(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_),
                   "copying within the GPU");
}

Status CudaBackend::zero(void* to, uint64_t bytes) {
  const OnDevice here(device_);
  return status_of(cudaMemsetAsync(to, 0, bytes, stream_), "cudaMemsetAsync");
}

Status CudaBackend::launch(KernelId id, const LaunchShape& shape, const void* params,
                           size_t params_bytes) {
  const OnDevice here(device_);
  const Kernel& kernel = kernels_by_id[static_cast<size_t>(id)];
  if (params_bytes != kernel.params_bytes) {
    return failure(GDN_INTERNAL, "kernel %d takes %zu bytes of parameters, got %zu",
                   static_cast<int>(id), kernel.params_bytes, params_bytes);
  }
  return status_of(kernel.launch(stream_, shape, params), "launching a kernel");
}

Status CudaBackend::synchronise() {
  const OnDevice here(device_);
  return status_of(cudaStreamSynchronize(stream_), "waiting for the GPU");
}

Status CudaBackend::begin_capture() {
  const OnDevice here(device_);
  const cudaError_t error = cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal);
  capturing_ = error == cudaSuccess;
  return status_of(error, "cudaStreamBeginCapture");
}

Status CudaBackend::end_capture(std::unique_ptr<Graph>* graph) {
  const OnDevice here(device_);
  cudaGraph_t recorded = nullptr;
  cudaError_t error = cudaStreamEndCapture(stream_, &recorded);
  capturing_ = false;
  if (error != cudaSuccess) return status_of(error, "cudaStreamEndCapture");
  auto made = std::make_unique<Instantiated>(device_);
  error = cudaGraphInstantiate(&made->executable, recorded, 0);
  cudaGraphDestroy(recorded);
  if (error != cudaSuccess) return status_of(error, "cudaGraphInstantiate");
  error = cudaGraphUpload(made->executable, stream_);
  if (error != cudaSuccess) return status_of(error, "cudaGraphUpload");
  *graph = std::move(made);
  return {};
}

Status CudaBackend::replay(const Graph& graph) {
  const OnDevice here(device_);
  const auto& made = static_cast<const Instantiated&>(graph);
  return status_of(cudaGraphLaunch(made.executable, stream_), "cudaGraphLaunch");
}

}  // namespace

Status make_cuda(const BackendOptions& options, std::unique_ptr<Backend>* backend) {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess) {
    cudaGetLastError();
    return failure(GDN_NOT_AVAILABLE, "no GPU can be used: %s", cudaGetErrorString(error));
  }
  if (devices == 0) return failure(GDN_NOT_AVAILABLE, "no GPU is there");
  int device = 0;
  cudaGetDevice(&device);
  auto made = std::make_unique<CudaBackend>(options, device);
  const Status opened = made->open();
  if (opened.ok()) *backend = std::move(made);
  return opened;
}

}  // namespace gdn::host
