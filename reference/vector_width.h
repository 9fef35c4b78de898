// The widths of vector registers that inner loops are compiled for, one source for all. Which is
// used is chosen at run time; the numbers do not depend on it, since a loop keeps its accumulators
// and their order whatever the width.
#pragma once

#include <cstdint>
#include <vector>

// Only x86-64 has more than one here: elsewhere `portable` is what the compiler makes of it.
#if defined(__x86_64__) && defined(__GNUC__)
#define GDN_VECTORS_OF_256 [[gnu::target("avx2")]]
#define GDN_VECTORS_OF_512 [[gnu::target("avx512f")]]
#else
#define GDN_VECTORS_OF_256
#define GDN_VECTORS_OF_512
#endif

namespace gdn {

enum class VectorWidth : uint8_t { portable, of_256_bits, of_512_bits };

// What this processor has, `portable` first and the widest last.
const std::vector<VectorWidth>& vector_widths_here();
inline VectorWidth widest_here() { return vector_widths_here().back(); }

// Some doubles side by side, as many floats, and their bits.
template <int count>
struct Vectors {
  typedef double Doubles __attribute__((vector_size(count * sizeof(double))));
  typedef float Floats __attribute__((vector_size(count * sizeof(float))));
  typedef int64_t Bits __attribute__((vector_size(count * sizeof(int64_t))));
};

}  // namespace gdn
