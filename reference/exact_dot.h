// Dot products of float32 weights with exact inputs, fast: in double, where products of float32
// numbers are exact, with compensated sums of short blocks and a proven remainder.
// Source: Ogita, Rump and Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26 (2005).
#pragma once

#include <cstdint>
#include <span>

#include "reference/vector_width.h"

namespace gdn {

// Not finite where a factor is not: NaN or infinite by IEEE's rules for sums, radius 0, sum_abs
// infinite. Finite factors whose sum lies beyond double give an infinity and an infinite radius.
struct ExactDot {
  double value = 0;    // within `radius` of sum(x_i w_i)
  double radius = 0;   // proven; at most 2^-40 sum_abs, else the sum is taken in multiprecision
  double sum_abs = 0;  // sum |x_i w_i|, rounded up: never below the exact one
};

// One row. x has the length of w. Elements of x may be float32 numbers or arbitrary doubles.
ExactDot exact_dot(std::span<const float> w, std::span<const float> x);
ExactDot exact_dot(std::span<const float> w, std::span<const double> x);
// By vectors of one width, which this processor must have: the same bits.
ExactDot exact_dot_by(VectorWidth width, std::span<const float> w, std::span<const double> x);

// The same by 50 digits, slowly: what exact_dot falls back to. Factors must be finite. Its radius
// is above 2^-40 sum_abs only where sum_abs is below 2^-1030, at the end of double's range.
ExactDot multiprecision_dot(std::span<const float> w, std::span<const double> x);

// Rows of a row-major [rows, cols] matrix, on all cores; results do not depend on their number.
void exact_matvec(const float* w, int64_t rows, int64_t cols, std::span<const float> x,
                  std::span<ExactDot> out);
void exact_matvec(const float* w, int64_t rows, int64_t cols, std::span<const double> x,
                  std::span<ExactDot> out);

}  // namespace gdn
