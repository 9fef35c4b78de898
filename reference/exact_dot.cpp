// Dot products in double with compensated sums of blocks (blocked_sums.h).
//
// With eps = 2^-53, gamma(m) = m eps / (1 - m eps), A = sum |t_i|, t_i = w_i x_i:
// a product is rounded once, exact where x_i is a float32 number; a block adds up four of a lane,
// so that its sum b_k misses that of its terms by gamma(4) of their magnitudes (Higham, 3.1).
// TwoSum turns s + b_k into its rounded sum and its exact error e_k:
//   sum b_k = s + sum e_k, exactly;   sum |e_k| <= eps m (1 + gamma(m)) (1 + gamma(4)) A,
// as each b_k lies beneath at most m additions, those of its lane and four that join the lanes. The
// sum c of the e_k takes two additions for each of s, and its error is at most gamma(2m) of theirs.
// The result fl(s + c) adds eps |result|. In all
//   |result - sum t_i| <= eps |result| + (gamma(4) + gamma(2m) eps m (1 + gamma(m + 4))) A.
// A product of a double may underflow, by half of the smallest double.
#include "reference/exact_dot.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "reference/blocked_sums.h"
#include "reference/parallel_for.h"

#ifdef __FAST_MATH__
#error "compensated sums vanish under fast math"
#endif

namespace gdn {
namespace {

constexpr double eps = 0x1p-53;
constexpr double wide_infinity = std::numeric_limits<double>::infinity();
constexpr double double_subnormal = std::numeric_limits<double>::denorm_min();

// Products of a weight, which is 0 or at least 2^-149, and a larger number do not underflow.
constexpr double factor_min = 0x1p-800;

bool may_underflow(std::span<const float>) { return false; }

bool may_underflow(std::span<const double> x) {
  bool found = false;
  for (const double factor : x) found |= factor != 0 && std::fabs(factor) < factor_min;
  return found;
}

// gamma of double.
double double_gamma(double count) { return count * eps / (1 - count * eps); }

// The upper half of the lanes into the lower one.
template <int half>
void join_halves(BlockedSums& sums) {
  constexpr int together = half < 2 ? 1 : 2;
  using Doubles = typename Vectors<together>::Doubles;
  const auto fetch = [](const double* from) {
    Doubles to;
    std::memcpy(&to, from, sizeof to);
    return to;
  };
  for (int lane = 0; lane < half; lane += together) {
    const Doubles before = fetch(sums.sum + lane), other = fetch(sums.sum + lane + half);
    const Doubles after = before + other;
    const Doubles taken = after - before;
    const Doubles error = (before - (after - taken)) + (other - taken);
    const Doubles correction =
        fetch(sums.correction + lane) + (fetch(sums.correction + lane + half) + error);
    const Doubles magnitude = fetch(sums.magnitude + lane) + fetch(sums.magnitude + lane + half);
    std::memcpy(sums.sum + lane, &after, sizeof after);
    std::memcpy(sums.correction + lane, &correction, sizeof correction);
    std::memcpy(sums.magnitude + lane, &magnitude, sizeof magnitude);
  }
}

void join_lanes(BlockedSums& sums) {
  static_assert(sum_lanes == 16);
  join_halves<8>(sums);
  join_halves<4>(sums);
  join_halves<2>(sums);
  join_halves<1>(sums);
}

// What all rows of one x share: the error of a sum of so many terms, as parts of A.
struct Roundings {
  double correction, magnitude, underflow;

  Roundings(size_t terms, bool underflows) {
    const double chain = static_cast<double>(terms / static_cast<size_t>(block_elements)) + 6;
    correction = double_gamma(products_a_block) +
                 double_gamma(2 * chain) * eps * chain * (1 + double_gamma(chain + 8));
    // A lane's magnitudes are added one by one. Twice as much covers the inverse.
    magnitude = 2 * double_gamma(products_a_block * chain + 8);
    underflow = underflows ? static_cast<double>(terms) * double_subnormal : 0;
  }
};

ExactDot result_of(BlockedSums& sums, const Roundings& roundings) {
  join_lanes(sums);
  ExactDot result;
  result.value = sums.sum[0] + sums.correction[0];
  result.sum_abs = (sums.magnitude[0] + roundings.underflow) * (1 + roundings.magnitude);
  // The factor covers the few operations here.
  result.radius =
      (eps * std::fabs(result.value) + roundings.correction * result.sum_abs) * (1 + 0x1p-40) +
      roundings.underflow;
  return result;
}

// IEEE's rules: NaN if a product is, or if infinities of both signs meet, else the infinity; 0
// where all factors are finite.
double sum_of_not_finite(std::span<const float> w, std::span<const double> x) {
  double sum = 0;
  for (size_t i = 0; i < w.size(); ++i) {
    if (!std::isfinite(w[i]) || !std::isfinite(x[i])) sum += static_cast<double>(w[i]) * x[i];
  }
  return sum;
}

ExactDot carefully(std::span<const float> w, std::span<const double> x) {
  const double sum = sum_of_not_finite(w, x);
  if (!std::isfinite(sum)) return {.value = sum, .radius = 0, .sum_abs = wide_infinity};
  return multiprecision_dot(w, x);
}

// The sum of magnitudes is finite only if each factor is, and nothing overflowed on the way.
template <class Number>
ExactDot row_dot(VectorWidth width, const float* w, std::span<const Number> x,
                 const Roundings& roundings) {
  BlockedSums sums;
  add_products(width, w, x.data(), static_cast<int64_t>(x.size()), sums);
  const ExactDot result = result_of(sums, roundings);
  if (result.radius <= 0x1p-40 * result.sum_abs && result.sum_abs < wide_infinity) return result;
  const std::vector<double> factors(x.begin(), x.end());
  return carefully({w, x.size()}, factors);
}

template <class Number>
ExactDot dot(VectorWidth width, std::span<const float> w, std::span<const Number> x) {
  return row_dot(width, w.data(), x, Roundings(x.size(), may_underflow(x)));
}

template <class Number>
void matvec(const float* w, int64_t rows, int64_t cols, std::span<const Number> x,
            std::span<ExactDot> out) {
  const Roundings roundings(x.size(), may_underflow(x));
  const VectorWidth width = widest_here();
  // A thread starts in some 50 us, the time of about 200,000 multiply-adds.
  const int64_t grain = 200'000 / std::max<int64_t>(1, cols) + 1;
  parallel_for(rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      out[static_cast<size_t>(row)] = row_dot(width, w + row * cols, x, roundings);
    }
  });
}

}  // namespace

ExactDot exact_dot(std::span<const float> w, std::span<const float> x) {
  return dot(widest_here(), w, x);
}

ExactDot exact_dot(std::span<const float> w, std::span<const double> x) {
  return dot(widest_here(), w, x);
}

ExactDot exact_dot_by(VectorWidth width, std::span<const float> w, std::span<const double> x) {
  return dot(width, w, x);
}

void exact_matvec(const float* w, int64_t rows, int64_t cols, std::span<const float> x,
                  std::span<ExactDot> out) {
  matvec(w, rows, cols, x, out);
}

void exact_matvec(const float* w, int64_t rows, int64_t cols, std::span<const double> x,
                  std::span<ExactDot> out) {
  matvec(w, rows, cols, x, out);
}

}  // namespace gdn
