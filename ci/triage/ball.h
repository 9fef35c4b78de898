// A number that float32 arithmetic may have computed: its value without rounding and how far the
// computed one may lie from it. Each operation adds one rounding, so that a formula written with
// these is its own error analysis (Higham, Accuracy and Stability, section 3.3).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "reference/bound.h"
#include "reference/contract.h"
#include "reference/dialect.h"
#include "reference/shape.h"

namespace gdn {

struct Ball {
  double value = 0;
  double bound = 0;
};

inline Ball exact_ball(double value) { return {value, 0}; }

Ball operator+(const Ball& a, const Ball& b);
Ball operator-(const Ball& a, const Ball& b);
Ball operator*(const Ball& a, const Ball& b);
Ball operator/(const Ball& a, const Ball& b);
inline Ball operator-(const Ball& a) { return {-a.value, a.bound}; }

// The functions as a contract has them.
Ball exp_of(const Ball& x, const Contract& contract);
Ball log1p_of(const Ball& x, const Contract& contract);
Ball sqrt_of(const Ball& x, const Contract& contract);
Ball sigmoid_of(const Ball& x, const Contract& contract);
Ball silu_of(const Ball& x, const Contract& contract);

// In any order.
Ball sum_of(std::span<const Ball> terms);
Ball dot_of(std::span<const Ball> a, std::span<const Ball> b);

// Rounded to a narrower format, both ends of it.
Ball rounded_to(Format format, const Ball& x);
// Cut to `bits` of float32's 24, as a fast instruction's table has them.
Ball cut_to(int bits, const Ball& x);

// What scales q, a constant or the quotient of a root.
Ball scale_of_q(const Dialect& dialect, const Shape& shape);

std::vector<Ball> balls_of(const std::vector<float>& numbers);
std::vector<Ball> balls_of(const Bounded& numbers);
Bounded bounded_from(std::span<const Ball> balls);

}  // namespace gdn
