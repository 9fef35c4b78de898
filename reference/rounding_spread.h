// How far rounding errors that take no side can be expected to carry a sum: what the statistical
// tier measures an engine's errors against. The theorem stands in docs/statistics.md, its proof in
// rounding_spread.cpp.
// Source: Higham and Mary, A new approach to probabilistic rounding error analysis, SIAM J. Sci.
// Comput. 41 (2019); Connolly, Higham and Mary, Stochastic rounding and its probabilistic backward
// error analysis, SIAM J. Sci. Comput. 43 (2021).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/contract.h"

namespace gdn {

// Of one sum of products in a declared order, evaluated in float32.
struct RoundingSpread {
  double value = 0;      // of the exact sum
  double certain = 0;    // of the error, what no sign of a rounding averages out
  double deviation = 0;  // s: the error beyond that exceeds lambda s with odds 2 exp(-lambda^2 / 2)
  // What the error would be if every rounding went towards zero by half an ulp.
  double drift = 0;
};

// Of each row of a row-major [rows, cols] matrix times x; empty where a factor is not finite or a
// sum can overflow, where the theorem says nothing.
std::vector<RoundingSpread> rounding_spreads(const Reduction& order, const float* w, int64_t rows,
                                             int64_t cols, std::span<const float> x);

// The same sums as a float32 machine that rounds to nearest gives them in a declared order.
std::vector<float> float32_sums(const Reduction& order, const float* w, int64_t rows, int64_t cols,
                                std::span<const float> x);

}  // namespace gdn
