// Row sums by a kernel: a warp has four rows of tiles, a lane what row_sum_lanes.h gives it. Each
// call of take() has a stream and buffers of its own, which the next one takes over.
#include "reference/gpu/row_sums.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "reference/bound.h"
#include "reference/formats.h"
#include "reference/gpu/row_sum_lanes.h"

namespace gdn {
namespace {

constexpr int warps_a_block = 4;

__device__ lanes::Sums from_lane_above(const lanes::Sums& sums, int distance) {
  const auto fetch = [&](double mine) { return __shfl_down_sync(0xFFFFFFFFU, mine, distance); };
  return {fetch(sums.sum), fetch(sums.correction), fetch(sums.magnitude), fetch(sums.carried),
          fetch(sums.digits)};
}

__global__ void sum_tile_rows(lanes::Rows rows, int64_t row_groups, lanes::Roundings roundings,
                              lanes::Result* out) {
  const int64_t group = int64_t{blockIdx.x} * warps_a_block + threadIdx.x / lanes::warp_lanes;
  // A whole warp leaves, or none of it.
  if (group >= row_groups) return;
  const int lane = static_cast<int>(threadIdx.x % lanes::warp_lanes);
  rows.tiles += group * rows.tiles_a_row * lanes::tile_words;
  lanes::Sums sums = lanes::sums_of_lane(rows, lane);
  for (int apart = lanes::first_join; apart >= lanes::last_join; apart /= 2) {
    lanes::join(sums, from_lane_above(sums, apart));
  }
  if (lane >= lanes::rows_a_warp) return;
  out[group * lanes::rows_a_warp + lane] = lanes::result_of(sums, roundings, bound_slack);
}

void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();
  throw GpuFailure(std::string("row sums on the GPU: ") + what + ": " + cudaGetErrorString(error));
}

// Memory of the GPU, or of the host where the GPU reads it fast.
template <class T, bool on_gpu>
class Array {
 public:
  Array() = default;
  ~Array() { release(); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  void hold(size_t count) {
    if (count <= count_) return;
    release();
    void* memory = nullptr;
    const size_t bytes = count * sizeof(T);
    must(on_gpu ? cudaMalloc(&memory, bytes) : cudaMallocHost(&memory, bytes), "memory");
    data_ = static_cast<T*>(memory);
    count_ = count;
  }
  T* data() const { return data_; }

 private:
  void release() {
    if (data_ == nullptr) return;
    on_gpu ? cudaFree(data_) : cudaFreeHost(data_);
    data_ = nullptr;
    count_ = 0;
  }
  T* data_ = nullptr;
  size_t count_ = 0;
};

// What one call works with.
struct Workspace {
  Workspace() { must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream"); }
  ~Workspace() { cudaStreamDestroy(stream); }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  cudaStream_t stream = nullptr;
  Array<double, true> inputs;
  Array<double, false> inputs_here;
  Array<lanes::Result, true> results;
  Array<lanes::Result, false> results_here;
};

class Workspaces {
 public:
  explicit Workspaces(int device) : device_(device) {}
  std::unique_ptr<Workspace> borrow() {
    must(cudaSetDevice(device_), "cudaSetDevice");
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<Workspace>();
    std::unique_ptr<Workspace> one = std::move(free_.back());
    free_.pop_back();
    return one;
  }
  // Of a call that failed nothing is given back.
  void give_back(std::unique_ptr<Workspace> one) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(one));
  }

 private:
  int device_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Workspace>> free_;
};

// Products of a weight, which is 0 or at least 2^-24, and a larger number do not underflow.
bool may_underflow(std::span<const double> x) {
  const auto is_tiny = [](double number) { return number != 0 && std::fabs(number) < 0x1p-800; };
  return std::any_of(x.begin(), x.end(), is_tiny);
}

class TileRows final : public RowSums {
 public:
  TileRows(std::shared_ptr<Workspaces> workspaces, const uint8_t* tiles, int64_t rows, int64_t cols)
      : workspaces_(std::move(workspaces)), rows_(rows), cols_(cols) {
    const auto bytes = static_cast<size_t>(q4_bytes(rows, cols));
    tiles_.hold(bytes / sizeof(uint32_t));
    // The copy returns once the bytes are on their way: those of take() go by another stream.
    must(cudaMemcpy(tiles_.data(), tiles, bytes, cudaMemcpyHostToDevice), "tiles");
    must(cudaStreamSynchronize(cudaStreamLegacy), "tiles");
  }

  void take(const RowInputs& inputs, std::span<RowSum> out) const override {
    std::unique_ptr<Workspace> work = workspaces_->borrow();
    launch(inputs, *work);
    const lanes::Result* const results = work->results_here.data();
    for (size_t row = 0; row < out.size(); ++row) {
      const lanes::Result& r = results[row];
      out[row] = {{r.value, r.radius, r.sum_abs}, r.carried, r.digits};
    }
    workspaces_->give_back(std::move(work));
  }

 private:
  void launch(const RowInputs& inputs, Workspace& work) const {
    const size_t count = static_cast<size_t>(cols_), rows = static_cast<size_t>(rows_);
    work.inputs.hold(3 * count);
    work.inputs_here.hold(3 * count);
    work.results.hold(rows);
    work.results_here.hold(rows);
    // One array after the other; those that are not there are null.
    size_t filled = 0;
    const auto place = [&](std::span<const double> numbers) -> const double* {
      if (numbers.empty()) return nullptr;
      std::copy(numbers.begin(), numbers.end(), work.inputs_here.data() + filled);
      const double* const there = work.inputs.data() + filled;
      filled += count;
      return there;
    };
    lanes::Rows all{tiles_.data(), cols_ / lanes::tile_columns, nullptr, nullptr, nullptr};
    all.x = place(inputs.x);
    all.bound = place(inputs.bound);
    all.digits = place(inputs.digits);
    must(cudaMemcpyAsync(work.inputs.data(), work.inputs_here.data(), filled * sizeof(double),
                         cudaMemcpyHostToDevice, work.stream),
         "inputs");
    const int64_t groups = rows_ / lanes::rows_a_warp;
    const auto blocks = static_cast<unsigned>((groups + warps_a_block - 1) / warps_a_block);
    sum_tile_rows<<<blocks, warps_a_block * lanes::warp_lanes, 0, work.stream>>>(
        all, groups, lanes::roundings_of(cols_, may_underflow(inputs.x)), work.results.data());
    must(cudaGetLastError(), "the kernel's launch");
    must(cudaMemcpyAsync(work.results_here.data(), work.results.data(),
                         rows * sizeof(lanes::Result), cudaMemcpyDeviceToHost, work.stream),
         "results");
    must(cudaStreamSynchronize(work.stream), "the kernel");
  }

  std::shared_ptr<Workspaces> workspaces_;
  int64_t rows_, cols_;
  Array<uint32_t, true> tiles_;
};

class OnDevice final : public GpuRowSums {
 public:
  explicit OnDevice(int device) : workspaces_(std::make_shared<Workspaces>(device)) {}
  std::unique_ptr<RowSums> of_tiles(const uint8_t* tiles, int64_t rows, int64_t cols) override {
    return std::make_unique<TileRows>(workspaces_, tiles, rows, cols);
  }

 private:
  std::shared_ptr<Workspaces> workspaces_;
};

std::string why_no_device() {
  int devices = 0;
  const cudaError_t counted = cudaGetDeviceCount(&devices);
  if (counted != cudaSuccess) return cudaGetErrorString(counted);
  if (devices == 0) return "none is there";
  cudaFuncAttributes attributes;
  const cudaError_t found = cudaFuncGetAttributes(&attributes, sum_tile_rows);
  return found == cudaSuccess ? "" : cudaGetErrorString(found);
}

}  // namespace

std::unique_ptr<GpuRowSums> GpuRowSums::open(std::string* why) {
  *why = why_no_device();
  if (why->empty()) {
    int device = 0;
    cudaGetDevice(&device);
    return std::make_unique<OnDevice>(device);
  }
  cudaGetLastError();
  *why = "no GPU can be used: " + *why;
  return nullptr;
}

}  // namespace gdn
