// What the kernels of platform_kernels.cuh make of one list of bit patterns, on the simulator; a
// GPU must give the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gdn {

inline constexpr int platform_cols = 256;

// Every f16 pattern, the edges of every conversion, and drawn patterns: a multiple of 1024.
std::vector<uint32_t> platform_patterns();

// `numbers` of each pattern; then, of the patterns as rows of platform_cols floats without NaN and
// infinity, the bits of row_sums (128 threads) and of matrix_vector by the first row.
std::vector<uint32_t> outputs_on_simulator(const std::vector<uint32_t>& patterns);

// The floats that the sums take: each pattern with a small exponent.
std::vector<float> platform_floats(const std::vector<uint32_t>& patterns);

}  // namespace gdn
