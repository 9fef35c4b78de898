// The matrix-vector product of cuBLAS on bf16 weights, where its library is on the machine: a known
// point beside ours. Found when the program runs, so that nothing needs it to build or to start.
#pragma once

#include <cstdint>
#include <string>

namespace gdn::gpu {

class Timer;

class CublasBf16 {
 public:
  CublasBf16();
  ~CublasBf16();
  CublasBf16(const CublasBf16&) = delete;
  CublasBf16& operator=(const CublasBf16&) = delete;

  bool present() const { return handle_ != nullptr; }
  const std::string& why_not() const { return why_not_; }
  // µs of y = W x with W [rows][cols] and x in bf16, sums and y in float32, in a graph over enough
  // matrices that each is cold; 0, and why_not says more, where the library refuses.
  double time(int64_t rows, int64_t cols, const Timer& timer, int repeats);

 private:
  void* library_ = nullptr;
  void* handle_ = nullptr;
  std::string why_not_;
};

}  // namespace gdn::gpu
