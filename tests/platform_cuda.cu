// Runs the kernels of platform_kernels.cuh on a GPU and compares them with the simulator: equal
// bits, or NaN in both where the word is a float that the hardware made. Exit status: 0 equal,
// 1 different, 5 no GPU.
#include <cstdio>
#include <vector>

#include "tests/platform_kernels.cuh"
#include "tests/platform_outputs.h"

namespace {

bool failed = false;

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  failed = true;
}

template <class T>
T* upload(const std::vector<T>& values) {
  void* at = nullptr;
  check(cudaMalloc(&at, values.size() * sizeof(T)), "allocate");
  check(cudaMemcpy(at, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "write");
  return static_cast<T*>(at);
}

std::vector<uint32_t> outputs_on_gpu(const std::vector<uint32_t>& patterns) {
  const auto count = static_cast<unsigned>(patterns.size());
  const unsigned rows = count / gdn::platform_cols;
  const auto row_count = static_cast<int32_t>(rows);
  std::vector<uint32_t> out(size_t{count} * gdn::numbers_per_input + size_t{2} * rows);
  uint32_t* const bits = upload(patterns);
  float* const x = upload(gdn::platform_floats(patterns));
  uint32_t* const words = upload(out);
  if (failed) return out;
  auto* const sums = reinterpret_cast<float*>(words + size_t{count} * gdn::numbers_per_input);
  check(gdn::launch<gdn::numbers>(nullptr, {count / 256, 1, 256, 0},
                                  {{bits}, {words}, static_cast<int32_t>(count)}),
        "numbers");
  check(gdn::launch<gdn::row_sums>(nullptr, {rows, 1, 128, 0}, {{x}, {sums}, gdn::platform_cols}),
        "row_sums");
  check(gdn::launch<gdn::matrix_vector>(nullptr, {rows / 4, 1, 128, 0},
                                        {{x}, {x}, {sums + rows}, row_count, gdn::platform_cols}),
        "matrix_vector");
  check(cudaMemcpy(out.data(), words, out.size() * sizeof(uint32_t), cudaMemcpyDeviceToHost),
        "read");
  return out;
}

bool is_nan(uint32_t bits) { return (bits & 0x7fffffffU) > 0x7f800000U; }

// Words whose NaN the hardware makes: rounding, quotient, root, fused and plain multiply-add.
bool hardware_makes_nan(size_t word) { return word == 6 || (word >= 10 && word <= 13); }

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "no GPU: nothing was compared\n");
    return 5;
  }
  const std::vector<uint32_t> patterns = gdn::platform_patterns();
  const std::vector<uint32_t> want = gdn::outputs_on_simulator(patterns);
  const std::vector<uint32_t> got = outputs_on_gpu(patterns);
  if (failed || want.empty()) return 4;
  size_t different = 0;
  const size_t numbers_end = patterns.size() * gdn::numbers_per_input;
  for (size_t i = 0; i < want.size(); ++i) {
    const size_t word = i % gdn::numbers_per_input;
    const bool free_nan = i < numbers_end && hardware_makes_nan(word);
    if (got[i] == want[i] || (free_nan && is_nan(got[i]) && is_nan(want[i]))) continue;
    if (++different > 20) continue;
    if (i < numbers_end) {
      std::printf("numbers word %zu of pattern %08x: GPU %08x, simulator %08x\n", word,
                  patterns[i / gdn::numbers_per_input], got[i], want[i]);
    } else {
      std::printf("sum %zu: GPU %08x, simulator %08x\n", i - numbers_end, got[i], want[i]);
    }
  }
  std::printf("%zu words compared, %zu differ\n", want.size(), different);
  return different == 0 ? 0 : 1;
}
