// The sums of rows, on the CPU.
#include "reference/row_sums.h"

#include <algorithm>
#include <cmath>

#include "reference/bound.h"

#ifdef __FAST_MATH__
#error "bounds need IEEE arithmetic: build without fast math"
#endif

namespace gdn {
namespace {

// sum |w_i| e_i, in eight chains so that it vectorises.
double weighted(const float* w, std::span<const double> e) {
  constexpr size_t lanes = 8;
  double sums[lanes] = {};
  const size_t whole = e.size() / lanes * lanes;
  for (size_t i = 0; i < whole; i += lanes) {
    for (size_t lane = 0; lane < lanes; ++lane) {
      sums[lane] += static_cast<double>(std::fabs(w[i + lane])) * e[i + lane];
    }
  }
  for (size_t i = whole; i < e.size(); ++i) sums[0] += std::fabs(w[i]) * e[i];
  double sum = 0;
  for (double one : sums) sum += one;
  return sum * bound_slack;
}

}  // namespace

bool is_usable(const RowSum& sum) {
  return std::isfinite(sum.dot.value) && std::isfinite(sum.dot.sum_abs) &&
         std::isfinite(sum.carried) && std::isfinite(sum.digits) &&
         sum.dot.radius <= 0x1p-40 * sum.dot.sum_abs;
}

void sum_rows(const float* w, int64_t cols, const RowInputs& inputs, std::span<RowSum> out) {
  constexpr size_t rows_at_a_time = 8;
  ExactDot dots[rows_at_a_time];
  for (size_t first = 0; first < out.size(); first += rows_at_a_time) {
    const size_t count = std::min(rows_at_a_time, out.size() - first);
    const float* rows = w + static_cast<int64_t>(first) * cols;
    exact_matvec(rows, static_cast<int64_t>(count), cols, inputs.x, dots);
    for (size_t i = 0; i < count; ++i) {
      const float* row = rows + static_cast<int64_t>(i) * cols;
      out[first + i] = {dots[i], weighted(row, inputs.bound), weighted(row, inputs.digits)};
    }
  }
}

}  // namespace gdn
