// The kernels of platform_kernels.cuh on a GPU, read from a file and written to one: the numbers
// that a test makes on the simulator are compared with these bit for bit.
#include <cstdio>
#include <vector>

#include "tests/platform_kernels.cuh"

namespace {

bool ok(cudaError_t status, const char* what) {
  if (status != cudaSuccess) std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  return status == cudaSuccess;
}

template <class T>
T* on_device(const std::vector<T>& values) {
  void* at = nullptr;
  if (!ok(cudaMalloc(&at, values.size() * sizeof(T)), "allocate")) return nullptr;
  ok(cudaMemcpy(at, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "write");
  return static_cast<T*>(at);
}

template <class T>
bool append(std::FILE* file, const T* from, size_t count) {
  std::vector<T> values(count);
  return ok(cudaMemcpy(values.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost), "read") &&
         std::fwrite(values.data(), sizeof(T), count, file) == count;
}

}  // namespace

// IN holds 32-bit patterns, a multiple of 1024 of them. OUT gets the results of `numbers` on them,
// then, of the patterns as rows of 256 floats, row_sums with 128 threads and matrix_vector.
int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: platform_cuda IN OUT\n"), 2;
  std::FILE* const in = std::fopen(argv[1], "rb");
  std::FILE* const out = std::fopen(argv[2], "wb");
  if (in == nullptr || out == nullptr) return std::fprintf(stderr, "cannot open files\n"), 2;
  std::vector<uint32_t> bits(1 << 22);
  bits.resize(std::fread(bits.data(), sizeof(uint32_t), bits.size(), in) / 1024 * 1024);
  const int count = static_cast<int>(bits.size());
  constexpr int cols = 256;
  const int rows = count / cols;

  uint32_t* const patterns = on_device(bits);
  const auto* const floats = reinterpret_cast<const float*>(patterns);
  uint32_t* const words = on_device(std::vector<uint32_t>(bits.size() * gdn::numbers_per_input));
  float* const sums = on_device(std::vector<float>(rows));
  float* const products = on_device(std::vector<float>(rows));
  const auto threads = static_cast<unsigned>(count);
  bool good = ok(
      gdn::launch<gdn::numbers>(nullptr, {threads / 256, 1, 256, 0}, {{patterns}, {words}, count}),
      "numbers");
  good = good && ok(gdn::launch<gdn::row_sums>(nullptr, {threads / cols, 1, 128, 0},
                                               {{floats}, {sums}, cols}),
                    "row_sums");
  good = good && ok(gdn::launch<gdn::matrix_vector>(nullptr, {threads / cols / 4, 1, 128, 0},
                                                    {{floats}, {floats}, {products}, rows, cols}),
                    "matrix_vector");
  good = good && append(out, words, bits.size() * gdn::numbers_per_input) &&
         append(out, sums, rows) && append(out, products, rows);
  return std::fclose(out) == 0 && good ? 0 : 4;
}
