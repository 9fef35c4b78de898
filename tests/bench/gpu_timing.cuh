// Time on a GPU: work recorded once as a graph, replayed many times, each replay between two
// events. And the yardstick: a kernel that reads bytes and does nothing else.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace gdn::gpu {

inline void require(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "gpu_bench: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver ? 5 : 4);
}

struct Times {
  double median = 0, fastest = 0, slowest = 0;  // in µs
};

inline Times times_of(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return {all[all.size() / 2], all.front(), all.back()};
}

// Two events and a stream of one's own.
class Timer {
 public:
  Timer() {
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream");
    require(cudaEventCreate(&start_), "event");
    require(cudaEventCreate(&stop_), "event");
  }
  ~Timer() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
    cudaStreamDestroy(stream_);
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  cudaStream_t stream() const { return stream_; }

  // µs of what `work` queues on the stream or does by itself until it returns.
  template <class Work>
  double time(const Work& work) const {
    require(cudaEventRecord(start_, stream_), "record");
    require(cudaEventSynchronize(start_), "synchronise");
    work();
    require(cudaEventRecord(stop_, stream_), "record");
    require(cudaEventSynchronize(stop_), "synchronise");
    float milliseconds = 0;
    require(cudaEventElapsedTime(&milliseconds, start_, stop_), "elapsed time");
    return 1e3 * static_cast<double>(milliseconds);
  }

  // Of one replay of the graph of what `queue(stream)` queues.
  template <class Queue>
  Times time_graph(int repeats, const Queue& queue) const {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    require(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "capture");
    queue(stream_);
    require(cudaStreamEndCapture(stream_, &graph), "end of capture");
    require(cudaGraphInstantiate(&executable, graph, 0), "instantiate");
    const auto replay = [&] { require(cudaGraphLaunch(executable, stream_), "replay"); };
    constexpr int warm_up = 3;
    for (int i = 0; i < warm_up; ++i) replay();
    std::vector<double> all;
    for (int i = 0; i < repeats; ++i) all.push_back(time(replay));
    require(cudaGraphExecDestroy(executable), "destroy");
    require(cudaGraphDestroy(graph), "destroy");
    return times_of(std::move(all));
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

constexpr int read_threads = 256;
constexpr int reads_at_once = 8;

// Every 16 bytes once. The sum is kept only where it has one value of 2^32, so that nothing is
// written and nothing can be left out.
__global__ void __launch_bounds__(read_threads)
    read_only(const uint4* __restrict__ from, uint64_t count, unsigned* never) {
  const uint64_t step = uint64_t{gridDim.x} * blockDim.x;
  uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  unsigned sum = 0;
  for (; i + (reads_at_once - 1) * step < count; i += reads_at_once * step) {
    uint4 words[reads_at_once];
#pragma unroll
    for (int j = 0; j < reads_at_once; ++j) words[j] = __ldcs(from + i + j * step);
#pragma unroll
    for (int j = 0; j < reads_at_once; ++j) {
      sum += words[j].x ^ words[j].y ^ words[j].z ^ words[j].w;
    }
  }
  for (; i < count; i += step) {
    const uint4 word = __ldcs(from + i);
    sum += word.x ^ word.y ^ word.z ^ word.w;
  }
  if (sum == 0x9e3779b9U) *never = sum;
}

inline void queue_read(cudaStream_t stream, const void* from, uint64_t bytes, int blocks,
                       unsigned* never) {
  read_only<<<static_cast<unsigned>(blocks), read_threads, 0, stream>>>(
      static_cast<const uint4*>(from), bytes / sizeof(uint4), never);
  require(cudaGetLastError(), "read");
}

}  // namespace gdn::gpu
