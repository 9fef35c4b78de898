// What a projection asks of each row of its weights: an exact dot product, and the sums of
// magnitudes that its bound needs. The CPU takes them from the weights themselves; where a matrix
// names someone who has its weights at hand, a GPU, that one is asked.
#pragma once

#include <cstdint>
#include <span>

#include "reference/exact_dot.h"

namespace gdn {

// All of the engine's own x.
struct RowInputs {
  std::span<const double> x;
  std::span<const double> bound;   // how far the engine's x may lie from it; empty: nowhere
  std::span<const double> digits;  // by how much its digits may exceed it; empty: not at all
};

struct RowSum {
  ExactDot dot;
  double carried = 0;  // sum |w_i| bound_i
  double digits = 0;   // sum |w_i| digits_i, both rounded up
};

// A value that can be relied on: it is finite, and its radius is as narrow as ExactDot says.
bool is_usable(const RowSum& sum);

// Sums of all rows of one matrix. May be asked by several threads at once.
class RowSums {
 public:
  virtual ~RowSums() = default;
  // `out` has an element for each row. One that is not usable is to be asked of the CPU.
  virtual void take(const RowInputs& inputs, std::span<RowSum> out) const = 0;
};

// The same of `out.size()` rows of float32 weights, on all cores.
void sum_rows(const float* w, int64_t cols, const RowInputs& inputs, std::span<RowSum> out);

}  // namespace gdn
