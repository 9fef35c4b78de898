// rho of one head. With r = rho as a function of the inputs:
//   |rho(x') - rho(x)| <= |x' - x| / sqrt(divisor), since rho is a norm of (x / sqrt(divisor),
//   sqrt(added)), and a maximum with a constant moves no further;
//   |x_i'/rho' - x_i/rho| <= (|x_i' - x_i| + |x_i| / rho |rho' - rho|) / rho'.
// The sum of squares has the error of a dot product at the engine's own x'; relative to rho'^2 it
// is largest at the smallest rho', but never more than gamma(m + 1) and the underflow. Then the
// mean and the addition of eps each round once.
// Source: Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.1.
#ifdef __FAST_MATH__
#error "bounds need IEEE arithmetic: build without fast math"
#endif

#include "reference/head_norm.h"

#include <algorithm>
#include <cmath>

#include "reference/exact.h"

namespace gdn {
namespace {

// Squares, their sum, and how far the engine's own squares can be from them.
struct Squares {
  std::vector<double> terms;
  double sum = 0, moved = 0, lost = 0;
  double distance = 0;  // |x' - x|
};

Squares squares_of(std::span<const double> x, std::span<const double> bound,
                   const FloatModel& model) {
  Squares s;
  double distance_squared = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double e = bound.empty() ? 0 : bound[i];
    const double size = std::abs(x[i]);
    const double unread = model.read_error(size, e);
    s.terms.push_back(size * size);
    s.sum += size * size;
    s.moved += e * (2 * size + e);
    s.lost += unread * unread;
    distance_squared += e * e;
  }
  s.distance = std::sqrt(distance_squared) * bound_slack;
  return s;
}

}  // namespace

HeadNorm head_norm(std::span<const double> x, std::span<const double> bound, const Reduction& order,
                   const HeadNormForm& form, const FloatModel& model) {
  const Squares s = squares_of(x, bound, model);
  HeadNorm norm;
  norm.rho = sqrt(exact_norm_squared<Real>(x, form.divisor, form.added));
  if (norm.rho < form.floor) norm.rho = form.floor;
  norm.rho_moved = s.distance / std::sqrt(form.divisor) * bound_slack;
  const double least = std::max(std::sqrt(form.added), form.floor) / bound_slack;
  norm.rho_low = std::max(static_cast<double>(norm.rho) / bound_slack - norm.rho_moved, least);

  const Flushing flushing{.flushes = model.flushes, .lost = s.lost};
  SumMagnitudes magnitudes = sum_magnitudes(order, s.terms);
  const double error = dot_error(widened(magnitudes, s.moved), flushing);
  norm.squares_may_overflow = !std::isfinite(error);
  // The same with sum_abs = 0 is what underflow alone can do.
  magnitudes.sum_abs = magnitudes.partial_sums = 0;
  const double rho_squared = norm.rho_low * norm.rho_low;
  const double scale = form.divisor * rho_squared;
  const double homogeneous = gamma(magnitudes.depth + 1) + dot_error(magnitudes, flushing) / scale;
  const double sum_relative =
      norm.squares_may_overflow ? homogeneous : std::min(error / scale, homogeneous);
  norm.squared = compose(sum_relative, form.squared_extra) + form.divided_absolute / rho_squared;
  if (rho_squared == 0) norm.squared = infinity;
  return norm;
}

// Neither quotient is larger than sqrt(divisor), since rho^2 >= x_i^2 / divisor: the max form
// aside, which is no smaller.
double quotient_carried(const HeadNorm& norm, const HeadNormForm& form, double x, double bound) {
  if (bound == 0 && norm.rho_moved == 0) return 0;
  const double quotient = std::abs(x) / static_cast<double>(norm.rho) * bound_slack;
  const double moved = (bound + quotient * norm.rho_moved) / norm.rho_low * bound_slack;
  return std::min(moved, std::sqrt(form.divisor) * bound_slack + quotient);
}

// The quotient or product loses eta (a division, its own). 1 / rho is subnormal only where rho is
// beyond 2^126; what it loses there x multiplies.
double quotient_absolute(const HeadNorm& norm, double x, const FloatModel& model) {
  const double last = std::max(model.eta, model.division_absolute);
  const double rho_high = static_cast<double>(norm.rho) + norm.rho_moved;
  if (rho_high * flush_unit < 0.5) return last;
  return last + std::abs(x) * std::max(model.rsqrt_absolute, model.division_absolute);
}

std::vector<Classes> special_quotients(const Bounded& x, size_t begin, size_t count, bool floor) {
  Classes squares{Classes::positive};
  for (size_t i = begin; i < begin + count; ++i) {
    const Classes one = classes_of(x, i);
    squares = sum(squares, product(one, one));
  }
  // 1 / rho is zero where the sum is infinite, NaN where it is NaN, else positive.
  int inverse = squares.bits & (Classes::nan | Classes::positive);
  if (squares.may_be(Classes::plus_inf)) inverse |= Classes::zero;
  if (squares.may_be(Classes::nan) && floor) inverse |= Classes::positive;
  std::vector<Classes> quotients;
  for (size_t i = begin; i < begin + count; ++i) {
    quotients.push_back(product(classes_of(x, i), {static_cast<uint8_t>(inverse)}));
  }
  return quotients;
}

}  // namespace gdn
