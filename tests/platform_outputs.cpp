// Patterns from integer arithmetic alone, and the simulator's run over them.
#include "tests/platform_outputs.h"

#include <cstring>

#include "tests/platform_kernels.cuh"

namespace gdn {
namespace {

// Floats at which a conversion changes its mind, and their neighbours one and two patterns away.
constexpr uint32_t edges[] = {
    0x00000000U, 0x80000000U, 0x00800000U, 0x33000000U, 0x33800000U,  // 0, -0, smallest, f16 ones
    0x387fc000U, 0x38800000U, 0x477fe000U, 0x477ff000U, 0x47800000U,  // f16 normal and overflow
    0x3f000000U, 0x3f800000U, 0x3fc00000U, 0x40200000U, 0x4b000000U,  // 0.5, 1, 1.5, 2.5, 2^23
    0x4effffffU, 0x4f000000U, 0xcf000000U, 0xcf000001U, 0x7f7fffffU,  // int32 ends, largest
    0x7f7f8000U, 0x7f800000U, 0xff800000U, 0x7fc00000U, 0x7f800001U,  // bf16 overflow, inf, NaN
};

template <class T>
T* upload(simt::Machine& machine, const std::vector<T>& values, bool& good) {
  auto* const at = static_cast<T*>(machine.allocate(values.size() * sizeof(T)));
  good = good && !machine.write(at, values.data(), values.size() * sizeof(T));
  return at;
}

}  // namespace

std::vector<uint32_t> platform_patterns() {
  constexpr uint32_t drawn_count = 1U << 16;
  std::vector<uint32_t> patterns;
  for (uint32_t half = 0; half < 1U << 16; ++half) patterns.push_back(half << 16 | half);
  for (const uint32_t edge : edges) {
    for (uint32_t near = 0; near < 5; ++near) patterns.push_back(edge - 2 + near);
  }
  uint32_t state = 1;
  for (uint32_t i = 0; i < drawn_count; ++i) {
    state = state * 1664525U + 1013904223U;
    patterns.push_back(state ^ state >> 15);
  }
  while (patterns.size() % 1024 != 0) patterns.push_back(0);
  return patterns;
}

std::vector<float> platform_floats(const std::vector<uint32_t>& patterns) {
  std::vector<float> floats(patterns.size());
  for (size_t i = 0; i < floats.size(); ++i) {
    const uint32_t bits = (patterns[i] & 0x87ffffffU) + 0x38000000U;  // 2^-15 to 2
    std::memcpy(&floats[i], &bits, sizeof bits);
  }
  return floats;
}

std::vector<uint32_t> outputs_on_simulator(const std::vector<uint32_t>& patterns) {
  const auto count = static_cast<unsigned>(patterns.size());
  const unsigned rows = count / platform_cols;
  simt::Machine machine({.checks = false});
  bool good = true;
  std::vector<uint32_t> out(size_t{count} * numbers_per_input + size_t{2} * rows);
  uint32_t* const bits = upload(machine, patterns, good);
  float* const x = upload(machine, platform_floats(patterns), good);
  uint32_t* const words = upload(machine, out, good);
  auto* const sums = reinterpret_cast<float*>(words + size_t{count} * numbers_per_input);
  const Numbers of_bits{{bits}, {words}, static_cast<int32_t>(count)};
  good = good && !launch<numbers>(machine, {.blocks = count / 256, .threads = 256}, of_bits);
  const RowSums of_rows{{x}, {sums}, platform_cols};
  good = good && !launch<row_sums>(machine, {.blocks = rows, .threads = 128}, of_rows);
  const MatrixVector product{{x}, {x}, {sums + rows}, static_cast<int32_t>(rows), platform_cols};
  good = good && !launch<matrix_vector>(machine, {.blocks = rows / 4, .threads = 128}, product);
  good = good && !machine.read(out.data(), words, out.size() * sizeof(uint32_t));
  return good ? out : std::vector<uint32_t>();
}

}  // namespace gdn
