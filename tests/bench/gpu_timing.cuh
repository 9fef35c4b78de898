// Time on a GPU: work recorded once as a graph, replayed many times, each replay between two
// events.
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

template <class T>
T* fresh(uint64_t count) {
  void* memory = nullptr;
  require(cudaMalloc(&memory, count * sizeof(T)), "cudaMalloc");
  return static_cast<T*>(memory);
}

}  // namespace gdn::gpu
