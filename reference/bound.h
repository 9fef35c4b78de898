// The float32 model behind every bound, and the type that carries a number with its bound.
// Model: fl(a op b) = (a op b)(1 + d) + e, |d| <= u, |e| <= eta, d e = 0; additions have e = 0.
// Source: Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., sections 2.2 and 3.1.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace gdn {

inline constexpr double unit_roundoff = 0x1p-24;    // u of float32
inline constexpr double underflow_unit = 0x1p-150;  // eta: half the smallest subnormal
inline constexpr double flush_unit = 0x1p-126;      // eta of an engine that flushes
inline constexpr double overflow_threshold = 0x1p128 * (1 - 0x1p-25);  // Omega
inline constexpr double infinity = std::numeric_limits<double>::infinity();

// Higham's gamma_m = m u / (1 - m u); infinite once m u >= 1.
constexpr double gamma(double m) {
  return m * unit_roundoff < 1 ? m * unit_roundoff / (1 - m * unit_roundoff) : infinity;
}

// Bounds are themselves computed in double. Each is a sum of non-negative terms of at most 2^20
// operations, so its own rounding stays below 2^20 * 2^-53 = 2^-33 of it; this factor absorbs it.
inline constexpr double bound_slack = 1 + 0x1p-30;

enum class Format : unsigned char { f32, bf16, f16 };

// A result that a sound engine may give although it is not within the bound. It is shown and
// counted as undecided, never green.
struct Tolerated {
  size_t index;
  float result;
  const char* why;
};

// Numbers, row-major, and for each how far an engine's may lie from it. An input that was read
// back from an engine has an empty `bound`: it is exact. Special elements, by (value, bound):
//   finite, finite   |got - value| <= bound
//   finite, inf      undecided: the reference cannot say
//   NaN, 0           got must be NaN
//   NaN, inf         got must be NaN or infinite, which one is free
//   +-inf, 0         got must be that infinity
// Where `stored` is narrower than f32, got must lie in [RN(value - bound), RN(value + bound)].
struct Bounded {
  std::vector<double> value;
  std::vector<double> bound;
  Format stored = Format::f32;
  std::vector<Tolerated> tolerated;  // sparse, by index; usually empty

  size_t size() const { return value.size(); }
  double bound_of(size_t i) const { return bound.empty() ? 0.0 : bound[i]; }
};

Bounded exactly(const float* numbers, size_t count);  // an input as read back: bound 0
inline Bounded exactly(const std::vector<float>& numbers) {
  return exactly(numbers.data(), numbers.size());
}
Bounded slice(const Bounded& all, size_t begin, size_t count);
// A result on its way into the next operator: a tolerated result may be what goes on, so the bound
// is widened to reach it; where no bound does, the element is undecided.
Bounded carried(Bounded result);

}  // namespace gdn
