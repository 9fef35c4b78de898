// Dot products in double with compensated sums: Ogita, Rump and Oishi's Dot2 over eight lanes.
//
// x is split once into high + low, high its leading 29 bits: with a 24-bit weight both products are
// exact. In each lane TwoSum turns s + p into its rounded sum and its exact error e, so that
//   sum t_i = s + sum e_k + sum (low_i w_i),   exactly,
// and only the last two sums, c in the code, are rounded. With eps = 2^-53, A = sum |t_i| and m the
// longest chain of additions into s:
//   sum |e_k| <= eps sum |s_k| <= eps m (1 + gamma(m)) A,   sum |low_i w_i| <= 2^-28 A,
// as each term lies beneath at most m additions; c takes two additions for each of s, so its error
// is at most gamma(2m) (eps m (1 + gamma(m)) + 2^-28) A. The result fl(s + c) adds eps |result|.
#include "reference/exact_dot.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "reference/parallel_for.h"

#ifdef __FAST_MATH__
#error "compensated sums vanish under fast math"
#endif

// The same source for each vector width; the lanes are fixed, so that the bits are too.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define GDN_EACH_VECTOR_WIDTH __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define GDN_EACH_VECTOR_WIDTH
#endif

namespace gdn {
namespace {

constexpr int lanes = 8;
constexpr double eps = 0x1p-53;
constexpr double low_share = 0x1p-28;
constexpr double wide_infinity = std::numeric_limits<double>::infinity();

// Products of a 24-bit weight and an x in this range, and their sums, neither underflow nor
// overflow in double: the last bit of low lies above 2^-753, that of a weight at 2^-149 or above.
constexpr double factor_min = 0x1p-700;
constexpr double factor_max = 0x1p700;
constexpr double weight_max = 0x1p128;

// x, ready for any number of rows; padded with zeros to whole lanes.
struct Split {
  std::vector<double> original, high, low;
  double left_out = 0;      // sum |x_i| over those below factor_min, which high and low leave out
  double low_share_of = 0;  // 0 where x is float32 numbers, so that low is zero
  bool in_range = true;     // all |x_i| <= factor_max
};

template <class Number>
Split split(std::span<const Number> x) {
  const size_t padded = (x.size() + lanes - 1) / lanes * lanes;
  Split result;
  result.original.assign(x.begin(), x.end());
  result.high.resize(padded);
  result.low.resize(padded);
  constexpr uint64_t leading_29_bits = ~uint64_t{0} << 24;
  for (size_t i = 0; i < x.size(); ++i) {
    const double value = result.original[i];
    if (std::fabs(value) < factor_min) {
      result.left_out += std::fabs(value);
      continue;
    }
    if (!(std::fabs(value) <= factor_max)) result.in_range = false;
    result.high[i] = std::bit_cast<double>(std::bit_cast<uint64_t>(value) & leading_29_bits);
    result.low[i] = value - result.high[i];
    if (result.low[i] != 0) result.low_share_of = low_share;
  }
  return result;
}

struct Accumulators {
  double sum[lanes] = {};
  double correction[lanes] = {};
  double magnitude[lanes] = {};
};

GDN_EACH_VECTOR_WIDTH
void accumulate(const float* __restrict w, const double* __restrict high,
                const double* __restrict low, int64_t count, Accumulators& into) {
  Accumulators local = into;
  for (int64_t i = 0; i < count; i += lanes) {
    for (int lane = 0; lane < lanes; ++lane) {
      const double weight = w[i + lane];
      const double product = weight * high[i + lane];
      const double before = local.sum[lane];
      const double sum = before + product;
      const double taken = sum - before;
      const double error = (before - (sum - taken)) + (product - taken);
      local.sum[lane] = sum;
      local.correction[lane] += error + weight * low[i + lane];
      local.magnitude[lane] += std::fabs(product);
    }
  }
  into = local;
}

// gamma of double.
double double_gamma(double count) { return count * eps / (1 - count * eps); }

// Eight lanes into one result, serially; `steps` is how many terms a lane has.
ExactDot combine(const Accumulators& of, double steps, const Split& x) {
  double sum = of.sum[0], correction = of.correction[0], magnitude = of.magnitude[0];
  for (int lane = 1; lane < lanes; ++lane) {
    const double before = sum;
    sum = before + of.sum[lane];
    const double taken = sum - before;
    correction += (before - (sum - taken)) + (of.sum[lane] - taken);
    correction += of.correction[lane];
    magnitude += of.magnitude[lane];
  }
  const double chain = steps + lanes;
  ExactDot result;
  result.value = sum + correction;
  // A sum of non-negative terms is at least 1 - gamma(chain) of the exact one, and high at least
  // 1 - 2^-28 of x; twice each covers the inverse and the roundings here.
  result.sum_abs = magnitude * (1 + 2 * double_gamma(chain + 4)) * (1 + 2 * x.low_share_of);
  const double correction_error =
      double_gamma(2 * chain) * (eps * chain * (1 + double_gamma(chain)) + x.low_share_of);
  result.radius =
      (eps * std::fabs(result.value) + correction_error * result.sum_abs) * (1 + 0x1p-40);
  // Each x left out is below 2^-700 and weighs less than 2^128; the additions round up.
  const double left_out = x.left_out * weight_max * (1 + 0x1p-30);
  result.sum_abs = (result.sum_abs + left_out) * (1 + 4 * eps);
  result.radius = (result.radius + left_out) * (1 + 4 * eps);
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

ExactDot dot(const float* w, const Split& x) {
  const std::span<const float> row(w, x.original.size());
  if (!x.in_range) return carefully(row, x.original);
  const int64_t whole = static_cast<int64_t>(row.size()) / lanes * lanes;
  Accumulators accumulators;
  accumulate(w, x.high.data(), x.low.data(), whole, accumulators);
  if (whole < static_cast<int64_t>(row.size())) {
    float rest[lanes] = {};
    std::copy(row.begin() + whole, row.end(), rest);
    accumulate(rest, x.high.data() + whole, x.low.data() + whole, lanes, accumulators);
  }
  const ExactDot result = combine(accumulators, static_cast<double>(whole / lanes + 1), x);
  const bool proven = result.radius <= 0x1p-40 * result.sum_abs;
  return proven && std::isfinite(result.sum_abs) ? result : carefully(row, x.original);
}

template <class Number>
void matvec(const float* w, int64_t rows, int64_t cols, std::span<const Number> x,
            std::span<ExactDot> out) {
  const Split factors = split(x);
  // A thread starts in some 50 us, the time of about 65,536 multiply-adds.
  const int64_t grain = 65536 / std::max<int64_t>(1, cols) + 1;
  parallel_for(rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      out[static_cast<size_t>(row)] = dot(w + row * cols, factors);
    }
  });
}

}  // namespace

ExactDot exact_dot(std::span<const float> w, std::span<const float> x) {
  return dot(w.data(), split(x));
}

ExactDot exact_dot(std::span<const float> w, std::span<const double> x) {
  return dot(w.data(), split(x));
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
