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

// What splitting found out about x.
struct Range {
  double left_out = 0;      // sum |x_i| over those below factor_min, which high and low leave out
  double low_share_of = 0;  // 2^-28, or 0 where every low is zero
  bool usable = true;       // all |x_i| <= factor_max
};

// A float32 number has 24 bits, all of them high, and is zero or in range unless not finite.
void split(std::span<const float> x, double* high, double* low, Range& range) {
  bool finite = true;
  for (size_t i = 0; i < x.size(); ++i) {
    high[i] = x[i];
    low[i] = 0;
    finite = finite && std::isfinite(x[i]);
  }
  range.usable = range.usable && finite;
}

void split(std::span<const double> x, double* high, double* low, Range& range) {
  constexpr uint64_t leading_29_bits = ~uint64_t{0} << 24;
  for (size_t i = 0; i < x.size(); ++i) {
    const double value = x[i];
    high[i] = low[i] = 0;
    if (std::fabs(value) < factor_min) {
      range.left_out += std::fabs(value);
      continue;
    }
    if (!(std::fabs(value) <= factor_max)) range.usable = false;
    high[i] = std::bit_cast<double>(std::bit_cast<uint64_t>(value) & leading_29_bits);
    low[i] = value - high[i];
    if (low[i] != 0) range.low_share_of = low_share;
  }
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
ExactDot combine(const Accumulators& of, double steps, const Range& x) {
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

// `count` elements on from where the accumulators are; all but the last piece are whole lanes.
// high and low have room for whole lanes and zeros beyond `count`.
void accumulate_piece(const float* w, const double* high, const double* low, int64_t count,
                      Accumulators& into) {
  const int64_t whole = count / lanes * lanes;
  accumulate(w, high, low, whole, into);
  if (whole == count) return;
  float rest[lanes] = {};
  std::copy(w + whole, w + count, rest);
  accumulate(rest, high + whole, low + whole, lanes, into);
}

template <class Number>
ExactDot proven_or_carefully(const Accumulators& accumulators, const Range& range, const float* w,
                             std::span<const Number> x) {
  const double steps = static_cast<double>(x.size() / lanes + 1);
  const ExactDot result = combine(accumulators, steps, range);
  const bool proven = result.radius <= 0x1p-40 * result.sum_abs && result.sum_abs < wide_infinity;
  if (range.usable && proven) return result;
  const std::vector<double> factors(x.begin(), x.end());
  return carefully({w, x.size()}, factors);
}

// In pieces on the stack, as a row of its own is often short.
template <class Number>
ExactDot dot(std::span<const float> w, std::span<const Number> x) {
  constexpr size_t piece = 256;
  double high[piece], low[piece];
  Range range;
  Accumulators accumulators;
  for (size_t begin = 0; begin < x.size(); begin += piece) {
    const size_t count = std::min(piece, x.size() - begin);
    split(x.subspan(begin, count), high, low, range);
    const size_t padded = (count + lanes - 1) / lanes * lanes;
    std::fill(high + count, high + padded, 0.0);
    std::fill(low + count, low + padded, 0.0);
    accumulate_piece(w.data() + begin, high, low, static_cast<int64_t>(count), accumulators);
  }
  return proven_or_carefully(accumulators, range, w.data(), x);
}

template <class Number>
void matvec(const float* w, int64_t rows, int64_t cols, std::span<const Number> x,
            std::span<ExactDot> out) {
  const size_t padded = (x.size() + lanes - 1) / lanes * lanes;
  std::vector<double> high(padded), low(padded);
  Range range;
  split(x, high.data(), low.data(), range);
  // A thread starts in some 50 us, the time of about 65,536 multiply-adds.
  const int64_t grain = 65536 / std::max<int64_t>(1, cols) + 1;
  parallel_for(rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const float* weights = w + row * cols;
      Accumulators accumulators;
      accumulate_piece(weights, high.data(), low.data(), cols, accumulators);
      out[static_cast<size_t>(row)] = proven_or_carefully(accumulators, range, weights, x);
    }
  });
}

}  // namespace

ExactDot exact_dot(std::span<const float> w, std::span<const float> x) { return dot(w, x); }

ExactDot exact_dot(std::span<const float> w, std::span<const double> x) { return dot(w, x); }

void exact_matvec(const float* w, int64_t rows, int64_t cols, std::span<const float> x,
                  std::span<ExactDot> out) {
  matvec(w, rows, cols, x, out);
}

void exact_matvec(const float* w, int64_t rows, int64_t cols, std::span<const double> x,
                  std::span<ExactDot> out) {
  matvec(w, rows, cols, x, out);
}

}  // namespace gdn
