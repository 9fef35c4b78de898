// One small case of every kernel, launched by itself on a device, in any size of block.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/host/backend.h"

namespace gdn::gpu {

// Arrays on a device, and launches; what goes wrong ends in an exception with the device's words.
class KernelDevice {
 public:
  explicit KernelDevice(const std::string& engine);  // cuda, simt or simt_checked
  ~KernelDevice();
  KernelDevice(const KernelDevice&) = delete;
  KernelDevice& operator=(const KernelDevice&) = delete;

  template <class T>
  T* put(const std::vector<T>& values) {
    void* const memory = allocate(values.size() * sizeof(T));
    must(backend_->write(memory, values.data(), values.size() * sizeof(T)));
    must(backend_->synchronise());
    return static_cast<T*>(memory);
  }
  template <class T>
  T* fresh(size_t count) {
    return static_cast<T*>(allocate(count * sizeof(T)));
  }
  // The bits of `count` floats are added to `to`.
  void get(std::vector<float>& to, const float* from, size_t count);
  template <class P>
  void launch(host::KernelId kernel, const LaunchShape& shape, const P& params) {
    must(backend_->launch(kernel, shape, &params, sizeof params));
  }

 private:
  void* allocate(uint64_t bytes);
  static void must(const host::Status& status);

  std::unique_ptr<host::Backend> backend_;
  std::vector<void*> held_;
};

// In place of a number of threads: as many as the engine launches.
inline constexpr unsigned usual_size = 0;

struct KernelCase {
  std::string name;
  std::vector<unsigned> threads;  // sizes of block that it takes; the first is usual_size
  std::vector<float> (*run)(KernelDevice& device, unsigned threads);  // its outputs
};

std::vector<KernelCase> kernel_cases();
// Of them, the launches that do what several others do.
std::vector<KernelCase> fused_kernel_cases();

}  // namespace gdn::gpu
