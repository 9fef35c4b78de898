// How large the partial sums of a float32 dot product can be, and the bound that follows: the
// error of a sum is u times the sum of |p_k| over its additions, p_k their exact results, and a
// second-order rest. The derivation stands in partial_sums.cpp.
// Source: Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., sections 3.1 and 4.2.
#pragma once

#include <cstdint>
#include <span>

#include "reference/bound.h"
#include "reference/contract.h"

namespace gdn {

// Of a sum of the exact terms t_i = x_i w_i in a contract's order. All are upper bounds.
struct SumMagnitudes {
  // Of sum |p_k| over the n - 1 additions. Where `fused`, the products that are rounded on their
  // own, the first of each accumulator, are counted in too.
  double partial_sums = 0;
  double sum_abs = 0;  // of sum |t_i|
  double depth = 0;    // of the longest chain of additions
  int64_t terms = 0;   // n
  bool fused = false;  // declared: every other product goes unrounded into its addition
  // In units of u, of the roundings of the additions together, where this is known to be less than
  // sum |p_k|: an engine that rounds to nearest errs by half an ulp, which is set by the binade.
  // Only for terms as they stand: whoever moves them sets it back to infinity.
  double roundings = infinity;
};

// From the terms themselves. Of terms known to be rounded to double once, this still holds.
// An order is walked; for `any` and `depth` it is the least of three bounds that hold in every
// order of that depth.
SumMagnitudes sum_magnitudes(const Reduction& reduction, std::span<const double> terms);

// From the sum (known to within 2^-40 sum_abs, as ExactDot gives it), sum_abs and n alone, where
// the terms are not kept. A declared order counts by its depth alone, so that this is looser.
SumMagnitudes sum_magnitudes(const Reduction& reduction, double sum, double sum_abs, int64_t terms);

// For each row of a row-major [rows, cols] matrix times x, on all cores; `out` has `rows`
// elements. In any order of up to 512 terms, with their `roundings`. Eight rows are walked side by
// side, so that a serial order costs no latency.
void sum_magnitudes(const Reduction& reduction, const float* w, int64_t rows, int64_t cols,
                    std::span<const double> x, std::span<SumMagnitudes> out);

// What an engine that flushes subnormals to zero may lose beyond rounding.
struct Flushing {
  bool flushes = false;
  double lost = 0;  // sum |t_i| over the terms with a subnormal factor: see subnormal_terms
};
// Sum |x_i w_i| over the terms where x_i or w_i is a float32 subnormal, rounded up.
double subnormal_terms(std::span<const float> w, std::span<const double> x);

// How far a float32 evaluation, in the order that the magnitudes are of, can lie from the exact
// sum. Infinite where a partial sum can overflow or a term is not finite.
double dot_error(const SumMagnitudes& magnitudes, const Flushing& flushing = {});
double dot_error(const Reduction& reduction, std::span<const double> terms,
                 const Flushing& flushing = {});

}  // namespace gdn
