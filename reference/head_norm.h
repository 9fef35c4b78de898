// What qk_norm and gated_norm share: rho = sqrt(sum x^2 / divisor + added) of one head, and x /
// rho. The derivation stands in head_norm.cpp.
#pragma once

#include <span>

#include "reference/functions.h"
#include "reference/real.h"
#include "reference/special.h"

namespace gdn {

struct HeadNorm {
  Real rho;              // exact
  double rho_low = 0;    // no rho of inputs within their bounds is smaller
  double rho_moved = 0;  // how far the inputs' bounds can move rho
  double squared = 0;    // relative error of the engine's rho^2 at its own inputs
  bool squares_may_overflow = false;
};

struct HeadNormForm {
  double divisor = 1;           // of the sum: 1, or vd
  double added = 0;             // eps under the root; 0 adds nothing
  double floor = 0;             // rho is at least this: the max form
  double squared_extra = 0;     // relative errors of rho^2 beyond the sum: the mean, the addition
  double divided_absolute = 0;  // what dividing the sum loses to underflow
};

// `bound` is empty or as long as x; all ordinary.
HeadNorm head_norm(std::span<const double> x, std::span<const double> bound, const Reduction& order,
                   const HeadNormForm& form, const FloatModel& model);

// x_i / rho: what the inputs' bounds move it by.
double quotient_carried(const HeadNorm& norm, const HeadNormForm& form, double x, double bound);
// What x / rho or x (1 / rho) loses to underflow.
double quotient_absolute(const HeadNorm& norm, double x, const FloatModel& model);

// Class of x_i / rho for each i, where some x is not ordinary. `x` has `count` elements from
// `begin` on. With `floor`, fmax may ignore a NaN.
std::vector<Classes> special_quotients(const Bounded& x, size_t begin, size_t count, bool floor);

}  // namespace gdn
