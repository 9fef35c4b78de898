// How far a float32 engine's exp, sigmoid, silu and x / rho can lie from the exact functions, by
// the forms that its contract declares. The derivations stand in functions.cpp.
#pragma once

#include <vector>

#include "reference/bound.h"
#include "reference/contract.h"
#include "reference/partial_sums.h"
#include "reference/real.h"

namespace gdn {

// Relative errors are composed without forming 1 + e, which would round e itself.
constexpr double compose(double a, double b) { return a + b + a * b; }  // (1 + a)(1 + b) - 1
constexpr double of_inverse(double a) { return a < 1 ? a / (1 - a) : infinity; }  // 1/(1 - a) - 1

// |computed - f| <= relative |f| + absolute, and where `may_vanish` the result may also be zero.
struct FunctionError {
  double relative = 0;
  double absolute = 0;
  bool may_vanish = false;
  // In all, where |f| is at most `size`.
  double of(double size) const { return (relative + (may_vanish ? 1 : 0)) * size + absolute; }
};

// A contract's functions as the bounds use them. An error of c ulp is at most 2 c u of the result,
// or 2 c eta where the result is subnormal (an ulp is at most 2 u of a normal number, and 2 eta
// below). An engine that flushes loses up to 2^-126 there, however good the function.
struct FloatModel {
  explicit FloatModel(const Contract& contract);

  double exp_relative(double magnitude) const;  // of exp at |x| <= magnitude
  // What an input within `bound` of `input` loses where an engine that flushes reads it as zero.
  double read_error(double input, double bound = 0) const;

  double eta;  // the underflow error of one product
  double exp_absolute, log1p_absolute, sigmoid_absolute, division_absolute, rsqrt_absolute;
  double log1p_relative, rsqrt_relative, sigmoid_relative, division_relative, sqrt_relative;
  bool flushes;

 private:
  double exp_ulp, exp_ulp_per_x;
};

// Of arguments in [low, high].
FunctionError sigmoid_error(double low, double high, SigmoidForm form, const FloatModel& model);
FunctionError silu_error(double low, double high, SigmoidForm form, const FloatModel& model);
// The largest slope of sigmoid and of silu over [low, high].
double sigmoid_slope(double low, double high);
double silu_slope(double low, double high);

// The relative error of fl(x / rho), where rho^2 was computed with relative error `squared`:
// infinite where squared >= 1.
double quotient_relative(double squared, NormForm form, const FloatModel& model);

// The magnitudes of a sum where the engine's own terms differ from the exact ones by `carried` in
// all: each takes part in at most depth additions, and a first product may count once more.
SumMagnitudes widened(SumMagnitudes magnitudes, double carried);

// 1 and the powers of two: multiplying by them rounds nothing but subnormals.
bool is_power_of_two(double positive);

// An empty result of `count` elements; put rounds the exact value to double and adds that rounding
// to the bound.
Bounded bounded_of(size_t count);
void put(Bounded& result, size_t index, const Real& value, double bound);

}  // namespace gdn
