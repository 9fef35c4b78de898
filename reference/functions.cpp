// Errors of exp, sigmoid, silu and x / rho in float32, form by form. Throughout s is the exact
// sigmoid, E the exact exp, a hat marks what the engine holds, and each rounded operation is a
// factor 1 + d, |d| <= u (division and square root: their declared error).
// Source: Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., sections 2.2 and 3.1.
#ifdef __FAST_MATH__
#error "bounds need IEEE arithmetic: build without fast math"
#endif

#include "reference/functions.h"

#include <algorithm>
#include <cmath>

namespace gdn {
namespace {

constexpr double u = unit_roundoff;

// Beyond this exp(-|x|) < 2^-184: there an error relative to it is nothing beside eta, and exp(|x|)
// overflows float32. Relative errors that grow with |x| need not grow any further.
constexpr double exp_argument_max = 128;

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

// exp(x) can overflow where exp(x)(1 + e) >= Omega, for which x + e >= log Omega is necessary. The
// last factor covers the rounding of the logarithm and of the sum.
bool exp_may_overflow(double x, double relative) {
  return x + relative >= std::log(overflow_threshold) * (1 - 0x1p-50);
}

// The sigmoid's denominator D = 1 + E, E = exp(-y): E's own error is e E / (1 + E) = e (1 - s) of
// D, and what E loses to underflow is at most itself of D, since D >= 1. The sum is rounded once,
// and so is the division: (1 + d3) / ((1 - a)(1 - d2)) - 1.
FunctionError by_division(double low, double high, const FloatModel& model) {
  const double largest = std::max(std::abs(low), std::abs(high));
  const double e = model.exp_relative(largest);
  const double a = e * logistic(-low) + model.exp_absolute;
  const double relative = compose(of_inverse(a), compose(of_inverse(u), model.division_relative));
  return {relative, model.division_absolute, exp_may_overflow(-low, e)};
}

// E / (1 + E) with E = exp(y) for y < 0. With E(1 + e) in both places the quotient changes by
// (1 + e) / (1 + e s) - 1, at most e (1 - s) / (1 - e) in size; sum and division round once each.
// What E loses to underflow reaches the quotient undiminished at most, and so does the division's.
FunctionError by_exp_of_negative(double low, double high, const FloatModel& model) {
  const double largest = std::max(std::abs(low), std::abs(high));
  const double e = model.exp_relative(largest);
  const double in_quotient = of_inverse(e) * logistic(-low);
  return {compose(in_quotient, compose(of_inverse(u), model.division_relative)),
          model.exp_absolute + model.division_absolute, false};
}

FunctionError widest(const FunctionError& a, const FunctionError& b) {
  return {std::max(a.relative, b.relative), std::max(a.absolute, b.absolute),
          a.may_vanish || b.may_vanish};
}

// y * f, f within `factor` of the sigmoid: one more rounding, and one more loss to underflow.
FunctionError times_argument(const FunctionError& factor, double largest, double eta) {
  return {compose(factor.relative, u), largest * factor.absolute + eta, factor.may_vanish};
}

}  // namespace

FloatModel::FloatModel(const Contract& contract)
    : eta(contract.flushes_subnormals ? flush_unit : underflow_unit),
      flushes(contract.flushes_subnormals) {
  const FunctionErrors& f = contract.functions;
  const auto relative = [](double ulp) { return 2 * ulp * u; };
  // At least one eta: also a correctly rounded result is flushed.
  const auto absolute = [this](double ulp) { return std::max(2 * ulp, 1.0) * eta; };
  exp_ulp = f.exp_ulp;
  exp_ulp_per_x = f.exp_ulp_per_x;
  exp_absolute = absolute(f.exp_ulp);
  log1p_relative = relative(f.log1p_ulp);
  log1p_absolute = absolute(f.log1p_ulp);
  sigmoid_relative = relative(f.sigmoid_ulp);
  sigmoid_absolute = absolute(f.sigmoid_ulp);
  division_relative = relative(f.division_ulp);
  division_absolute = absolute(f.division_ulp);
  rsqrt_absolute = absolute(f.rsqrt_ulp);
  rsqrt_relative = relative(f.rsqrt_ulp);
  sqrt_relative = relative(f.sqrt_ulp);
}

double FloatModel::exp_relative(double magnitude) const {
  return 2 * exp_ulp * u + exp_ulp_per_x * std::min(magnitude, exp_argument_max) * u;
}

double FloatModel::read_error(double input, double bound) const {
  const bool subnormal = std::abs(input) - bound < flush_unit;
  return flushes && subnormal ? std::min(std::abs(input) + bound, flush_unit) : 0;
}

FunctionError sigmoid_error(double low, double high, SigmoidForm form, const FloatModel& model) {
  const FunctionError division = by_division(low, high, model);
  if (form == SigmoidForm::divide || form == SigmoidForm::reciprocal) return division;
  FunctionError negative;
  if (low < 0) negative = by_exp_of_negative(low, high, model);
  if (form == SigmoidForm::exp_of_negative) {
    return high < 0 ? negative : widest(negative, by_division(std::max(low, 0.0), high, model));
  }
  const FunctionError of_its_own{model.sigmoid_relative, model.sigmoid_absolute, false};
  return widest(widest(division, negative), of_its_own);
}

// The form y / (1 + E) rounds no product; y fl(1 / (1 + E)) and y (E / (1 + E)) round one; in
// (y E) / (1 + E) the product comes first, and its underflow adds where the argument is small.
FunctionError silu_error(double low, double high, SigmoidForm form, const FloatModel& model) {
  const double largest = std::max(std::abs(low), std::abs(high));
  const FunctionError division = by_division(low, high, model);
  if (form == SigmoidForm::divide) return division;
  const FunctionError reciprocal = times_argument(division, largest, model.eta);
  if (form == SigmoidForm::reciprocal) return reciprocal;
  FunctionError negative;
  if (low < 0) {
    negative = times_argument(by_exp_of_negative(low, high, model), largest, model.eta);
    negative.absolute += model.division_absolute;
  }
  if (form == SigmoidForm::exp_of_negative) {
    if (high < 0) return negative;
    const FunctionError positive = by_division(std::max(low, 0.0), high, model);
    return widest(negative, times_argument(positive, largest, model.eta));
  }
  const FunctionError own{model.sigmoid_relative, model.sigmoid_absolute, false};
  return widest(widest(reciprocal, negative), times_argument(own, largest, model.eta));
}

// sigmoid' = s (1 - s), at most 1/4; s rises, 1 - s falls.
double sigmoid_slope(double low, double high) {
  return std::min(0.25, logistic(high) * logistic(-low));
}

// silu' = s (1 + y (1 - s)). Its largest value over all y, 1.0998393..., is where silu'' = 0, at
// y = 2.3993...; on an interval s(high) (1 + |y|) is above it, and far smaller on the negative
// side.
double silu_slope(double low, double high) {
  const double largest = std::max(std::abs(low), std::abs(high));
  return std::min(1.09984, logistic(high) * (1 + largest));
}

// rho^2 (1 + r), |r| <= squared < 1, gives 1/rho to within 1/sqrt(1 - squared) - 1; then by form
//   x rsqrt(.):     rsqrt's own error and a product,
//   x / sqrt(.):    sqrt in the denominator and a division,
//   x (1/sqrt(.)):  sqrt in the denominator, a division and a product.
double quotient_relative(double squared, NormForm form, const FloatModel& model) {
  if (!(squared < 1)) return infinity;
  const double root = std::sqrt(1 - squared);
  const double inverse = squared / (root * (1 + root));
  const double by_rsqrt = compose(inverse, compose(model.rsqrt_relative, u));
  const double divided =
      compose(inverse, compose(of_inverse(model.sqrt_relative), model.division_relative));
  const double reciprocal = compose(divided, u);
  switch (form) {
    case NormForm::rsqrt:
      return by_rsqrt;
    case NormForm::divide_by_sqrt:
      return divided;
    case NormForm::times_reciprocal_sqrt:
      return reciprocal;
    case NormForm::any:
      break;
  }
  return std::max(by_rsqrt, reciprocal);
}

SumMagnitudes widened(SumMagnitudes magnitudes, double carried) {
  magnitudes.partial_sums += (magnitudes.depth + 1) * carried;
  magnitudes.sum_abs += carried;
  if (carried > 0) magnitudes.roundings = infinity;
  return magnitudes;
}

bool is_power_of_two(double positive) {
  int exponent = 0;
  return std::frexp(positive, &exponent) == 0.5;
}

Bounded bounded_of(size_t count) {
  Bounded result;
  result.value.assign(count, 0);
  result.bound.assign(count, 0);
  return result;
}

void put(Bounded& result, size_t index, const Real& value, double bound) {
  const double rounded = static_cast<double>(value);
  result.value[index] = rounded;
  result.bound[index] = (bound + std::abs(rounded) * 0x1p-53) * bound_slack;
}

}  // namespace gdn
