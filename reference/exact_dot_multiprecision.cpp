// The dot product in 50 decimal digits, for what the compensated sum cannot carry.
#include <cmath>
#include <limits>

#include "reference/exact_dot.h"
#include "reference/real.h"

namespace gdn {

// Real has at least 166 bits. Each of n products is rounded once and passes through at most n
// additions: gamma(n + 1) of that precision, below 2 (n + 1) 2^-166. The conversion to double adds
// one rounding and, among subnormals, half of the smallest. An exponent of MPFR does not overflow.
ExactDot multiprecision_dot(std::span<const float> w, std::span<const double> x) {
  static_assert(std::numeric_limits<Real>::digits >= 166);
  Real sum = 0, sum_abs = 0;
  for (size_t i = 0; i < w.size(); ++i) {
    const Real term = Real(w[i]) * Real(x[i]);
    sum += term;
    sum_abs += mp::abs(term);
  }
  constexpr double smallest = std::numeric_limits<double>::denorm_min();
  ExactDot result;
  result.value = sum.convert_to<double>();
  result.sum_abs = sum_abs == 0 ? 0 : sum_abs.convert_to<double>() * (1 + 0x1p-50) + smallest;
  const double terms = static_cast<double>(w.size());
  const double conversion = result.value == sum ? 0 : std::abs(result.value) * 0x1p-53 + smallest;
  result.radius = 0x1p-165 * (terms + 1) * result.sum_abs * (1 + 0x1p-50) + conversion;
  return result;
}

}  // namespace gdn
