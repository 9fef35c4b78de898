// Values are computed in double, whose own rounding is 2^-29 of that of float32: the slack that
// every bound gets here, 2^-20, absorbs that of a million operations.
#ifdef __FAST_MATH__
#error "bounds need IEEE arithmetic: build without fast math"
#endif

#include "ci/triage/ball.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "reference/formats.h"
#include "reference/functions.h"

namespace gdn {
namespace {

constexpr double slack = 1 + 0x1p-20;

// A result that float32 rounds: beyond its range it is infinite, near the end nobody knows.
Ball computed(double value, double bound, double rounding) {
  if (std::isnan(value)) return {value, std::isinf(bound) ? infinity : 0};
  if (std::isnan(bound) || std::isinf(bound)) return {0, infinity};
  const double size = std::abs(value);
  if (size - bound >= overflow_threshold) return {std::copysign(infinity, value), 0};
  if (size + bound >= overflow_threshold) return {0, infinity};
  return {value, (bound + rounding * (size + bound)) * slack};
}

Ball product(double value, double bound) {
  Ball result = computed(value, bound, unit_roundoff);
  // A zero that is exact loses nothing.
  if (std::isfinite(value) && (value != 0 || bound != 0)) result.bound += underflow_unit;
  return result;
}

// A number so small that float32 may hold it as zero.
bool may_be_zero(const Ball& x) { return std::abs(x.value) - x.bound <= 2 * underflow_unit; }

// A function that never falls, and whose results are exact.
template <class Function>
Ball both_ends(const Ball& x, Function function) {
  if (!std::isfinite(x.value) || !std::isfinite(x.bound)) return x;
  const double low = function(x.value - x.bound), high = function(x.value + x.bound);
  if (low == high) return exact_ball(low);
  return computed(x.value, std::max(std::abs(low - x.value), std::abs(high - x.value)), 0);
}

}  // namespace

Ball operator+(const Ball& a, const Ball& b) {
  const bool changes_nothing = (a.value == 0 && a.bound == 0) || (b.value == 0 && b.bound == 0);
  return computed(a.value + b.value, a.bound + b.bound, changes_nothing ? 0 : unit_roundoff);
}

Ball operator-(const Ball& a, const Ball& b) { return a + -b; }

Ball operator*(const Ball& a, const Ball& b) {
  const bool infinity_by_zero =
      (std::isinf(a.value) && may_be_zero(b)) || (std::isinf(b.value) && may_be_zero(a));
  const bool is_certain = a.value == 0 || b.value == 0;
  if (infinity_by_zero && !is_certain) return {std::nan(""), infinity};
  if (!std::isfinite(a.value) || !std::isfinite(b.value)) {
    return computed(a.value * b.value, a.bound + b.bound, 0);
  }
  // Infinity times an exact zero is none of a bound's business.
  const double from_a = a.bound == 0 ? 0 : a.bound * (std::abs(b.value) + b.bound);
  const double from_b = b.bound == 0 ? 0 : b.bound * std::abs(a.value);
  return product(a.value * b.value, from_a + from_b);
}

Ball operator/(const Ball& a, const Ball& b) {
  if (!std::isfinite(a.value) || !std::isfinite(b.value) || (b.value == 0 && b.bound == 0)) {
    return computed(a.value / b.value, a.bound + b.bound, 0);
  }
  const double least = std::abs(b.value) - b.bound;
  if (!(least > 0)) return {0, infinity};
  const double quotient = a.value / b.value;
  return product(quotient, (a.bound + std::abs(quotient) * b.bound) / least);
}

Ball exp_of(const Ball& x, const Contract& contract) {
  const FloatModel model(contract);
  if (std::isnan(x.value)) return x;
  if (std::isinf(x.value)) return exact_ball(x.value > 0 ? infinity : 0);
  if (std::exp(x.value - x.bound) > 2 * overflow_threshold) return exact_ball(infinity);
  const double largest = std::exp(x.value + x.bound);
  const double moved = x.bound == 0 ? 0 : largest * -std::expm1(-2 * x.bound);
  const double relative = model.exp_relative(std::abs(x.value) + x.bound);
  Ball result = computed(std::exp(x.value), moved + relative * largest, 0);
  if (std::isfinite(result.value)) result.bound += model.exp_absolute;
  return result;
}

Ball log1p_of(const Ball& x, const Contract& contract) {
  const FloatModel model(contract);
  if (std::isnan(x.value) || x.value == infinity) return x;
  const double least = 1 + x.value - x.bound;
  if (!(least > 0)) return {0, infinity};
  const double value = std::log1p(x.value);
  const double moved = x.bound == 0 ? 0 : x.bound / least;
  return computed(
      value, moved + model.log1p_relative * (std::abs(value) + moved) + model.log1p_absolute, 0);
}

Ball sqrt_of(const Ball& x, const Contract& contract) {
  const FloatModel model(contract);
  if (!std::isfinite(x.value) || (x.value == 0 && x.bound == 0)) {
    return computed(std::sqrt(x.value), x.bound, 0);
  }
  const double value = std::sqrt(std::max(0.0, x.value));
  const double moved = x.bound == 0 ? 0 : std::min(x.bound / value, std::sqrt(x.bound) * 2);
  return computed(value, moved + model.sqrt_relative * (value + moved), 0);
}

Ball sigmoid_of(const Ball& x, const Contract& contract) {
  if (!std::isfinite(x.value)) {
    return std::isnan(x.value) ? x : exact_ball(x.value > 0 ? 1 : 0);
  }
  const FloatModel model(contract);
  const double low = x.value - x.bound, high = x.value + x.bound;
  const double value = 1 / (1 + std::exp(-x.value));
  const double moved = x.bound == 0 ? 0 : sigmoid_slope(low, high) * x.bound;
  const FunctionError local = sigmoid_error(low, high, contract.sigmoid, model);
  return computed(value, moved + local.of(value + moved), 0);
}

Ball silu_of(const Ball& x, const Contract& contract) {
  if (!std::isfinite(x.value)) return x.value == infinity ? x : exact_ball(x.value * 0.0);
  const FloatModel model(contract);
  const double low = x.value - x.bound, high = x.value + x.bound;
  const double value = x.value / (1 + std::exp(-x.value));
  const double moved = x.bound == 0 ? 0 : silu_slope(low, high) * x.bound;
  const double size = std::abs(value) + moved;
  return computed(value, moved + silu_error(low, high, contract.silu, model).of(size), 0);
}

Ball sum_of(std::span<const Ball> terms) {
  double value = 0, bound = 0, sizes = 0, count = 0;
  for (const Ball& term : terms) {
    value += term.value;
    bound += term.bound;
    sizes += std::abs(term.value) + term.bound;
    count += term.value != 0 || term.bound != 0;
  }
  if (!std::isfinite(value)) return computed(value, bound, 0);
  return computed(value, bound + gamma(std::max(0.0, count - 1)) * sizes, 0);
}

Ball dot_of(std::span<const Ball> a, std::span<const Ball> b) {
  std::vector<Ball> terms(a.size());
  for (size_t i = 0; i < a.size(); ++i) terms[i] = a[i] * b[i];
  return sum_of(terms);
}

Ball rounded_to(Format format, const Ball& x) {
  return both_ends(x, [format](double end) { return round_to(format, end); });
}

Ball cut_to(int bits, const Ball& x) {
  return both_ends(x, [bits](double end) {
    const auto number = std::bit_cast<uint32_t>(static_cast<float>(end));
    return std::bit_cast<float>(number >> (24 - bits) << (24 - bits));
  });
}

Ball scale_of_q(const Dialect& dialect, const Shape& shape) {
  if (dialect.scale) return exact_ball(*dialect.scale);
  const double scale = 1 / std::sqrt(static_cast<double>(shape.head_k_dim));
  return {scale, is_power_of_two(scale) ? 0 : 2 * unit_roundoff * scale};
}

std::vector<Ball> balls_of(const std::vector<float>& numbers) {
  std::vector<Ball> balls;
  for (const float x : numbers) balls.push_back(exact_ball(x));
  return balls;
}

std::vector<Ball> balls_of(const Bounded& numbers) {
  std::vector<Ball> balls;
  for (size_t i = 0; i < numbers.size(); ++i) {
    balls.push_back({numbers.value[i], numbers.bound_of(i)});
  }
  return balls;
}

Bounded bounded_from(std::span<const Ball> balls) {
  Bounded result;
  for (const Ball& ball : balls) {
    result.value.push_back(ball.value);
    result.bound.push_back(ball.bound);
  }
  return result;
}

}  // namespace gdn
