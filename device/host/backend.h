// What the engine needs of a device: memory, copies, launches, recorded graphs. One implementation
// is the CUDA runtime, the other the simulator; all else of the engine is one source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "device/host/kernel_id.h"
#include "device/host/status.h"
#include "device/kernels/launch_shape.h"

namespace gdn::host {

struct BackendOptions {
  bool fill = false;  // write fill_pattern over fresh memory
  uint32_t fill_pattern = 0;
};

// How much of fresh memory will be written. What is sparse need not fit into the machine that
// simulates a device, as pages that nobody touches take no space there.
enum class Use : uint8_t { whole, sparse };

// Launches and copies within the device, recorded once and run any number of times.
class Graph {
 public:
  virtual ~Graph() = default;
};

// Calls are queued in order; read and synchronise wait for all before them. A fault of queued work
// may come back from any later call. GDN_LOST from any call: the device answers no more.
class Backend {
 public:
  virtual ~Backend() = default;

  // Aligned to 256 bytes. The name stands in faults and lives for ever.
  virtual Status allocate(uint64_t bytes, Use use, const char* name, void** memory) = 0;
  virtual Status release(void* memory) = 0;

  // The host's bytes must stay as they are until the next synchronise or read.
  virtual Status write(void* to, const void* from_host, uint64_t bytes) = 0;
  virtual Status read(void* to_host, const void* from, uint64_t bytes) = 0;
  virtual Status copy(void* to, const void* from, uint64_t bytes) = 0;
  virtual Status zero(void* to, uint64_t bytes) = 0;

  // params is the kernel's params struct, whose bytes are taken during the call.
  virtual Status launch(KernelId kernel, const LaunchShape& shape, const void* params,
                        size_t params_bytes) = 0;
  virtual Status synchronise() = 0;

  // Between the two, launches, copies and zeroing are recorded and not run. end_capture ends the
  // recording also where it fails.
  virtual Status begin_capture() = 0;
  virtual Status end_capture(std::unique_ptr<Graph>* graph) = 0;
  virtual Status replay(const Graph& graph) = 0;

  // Whether a replay that fails has run nothing of its graph, unless the device is lost.
  virtual bool replay_is_atomic() const = 0;
};

}  // namespace gdn::host
