// The reference's formulas checked against more digits and against another implementation: an error
// of the working precision, or of a function in it, would show here.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "reference/exact.h"
#include "reference/rng.h"

namespace gdn {
namespace {

// 50 digits carried, of which cancellation and the functions' own last places may cost a few.
const Real100 digits_45("1e-45");

template <class R>
Real100 widened(const R& x) {
  return Real100(x.str(0, std::ios_base::scientific));
}

// Relative to `scale`: the size of what was summed.
template <class R>
void expect_agreement(const R& value, const Real100& want, const Real100& scale, const char* what) {
  const Real100 error = abs(widened(value) - want);
  EXPECT_LE(error, digits_45 * scale) << what;
}

template <class R>
void expect_agreement(const R& value, const Real100& want, const char* what) {
  expect_agreement(value, want, abs(want), what);
}

template <class R>
class Precision : public ::testing::Test {};
using Witnesses = ::testing::Types<Real, RealBinary>;
TYPED_TEST_SUITE(Precision, Witnesses);

double number(Rng& rng, int low, int high) {
  return std::ldexp(static_cast<double>(rng.signed_unit()), static_cast<int>(rng.range(low, high)));
}

std::vector<double> numbers(Rng& rng, size_t count, int low, int high) {
  std::vector<double> all(count);
  for (double& x : all) x = number(rng, low, high);
  return all;
}

TYPED_TEST(Precision, GatesHave45Digits) {
  Rng rng(1);
  for (int i = 0; i < 300; ++i) {
    const double x = number(rng, -60, 8), A_log = number(rng, -10, 6);
    expect_agreement(exact_sigmoid(TypeParam(x)), exact_sigmoid(Real100(x)), "sigmoid");
    expect_agreement(exact_softplus(TypeParam(x)), exact_softplus(Real100(x)), "softplus");
    expect_agreement(exact_log_decay(TypeParam(A_log), TypeParam(x)),
                     exact_log_decay(Real100(A_log), Real100(x)), "g");
  }
}

// On both sides of -300 the two ways to form g are the same number.
TYPED_TEST(Precision, GIsContinuousWhereItsFormulaChanges) {
  for (const double x : {-300.5, -300.0, -299.5}) {
    const Real100 want = -exp(Real100(90)) * log1p(exp(Real100(x)));
    expect_agreement(exact_log_decay(TypeParam(90), TypeParam(x)), want, "g");
  }
}

TYPED_TEST(Precision, ConvHas45Digits) {
  Rng rng(2);
  for (int i = 0; i < 300; ++i) {
    const std::vector<double> taps = numbers(rng, 4, -4, 4), window = numbers(rng, 4, -60, 5);
    double size = 0;
    for (size_t j = 0; j < 4; ++j) size += std::fabs(taps[j] * window[j]);
    expect_agreement(exact_sum_of_products<TypeParam>(taps, window),
                     exact_sum_of_products<Real100>(taps, window), size, "sum");
    // silu' is below 1.1, and silu itself is no larger than its argument.
    expect_agreement(exact_conv<TypeParam>(taps, window), exact_conv<Real100>(taps, window),
                     1.1 * Real100(size), "conv");
  }
}

TYPED_TEST(Precision, NormsHave45Digits) {
  Rng rng(3);
  for (int i = 0; i < 30; ++i) {
    const size_t n = static_cast<size_t>(rng.range(1, 128));
    const std::vector<double> x = numbers(rng, n, -40, 40), z = numbers(rng, n, -10, 6),
                              w = numbers(rng, n, -3, 3);
    const double eps = 1e-6F;
    const auto quotients = exact_normalised<TypeParam>(x, 1, eps);
    const auto quotients_want = exact_normalised<Real100>(x, 1, eps);
    const auto gated = exact_gated_norm<TypeParam>(x, z, w, eps);
    const auto gated_want = exact_gated_norm<Real100>(x, z, w, eps);
    for (size_t j = 0; j < n; ++j) {
      expect_agreement(quotients[j], quotients_want[j], "x / rho");
      expect_agreement(gated[j], gated_want[j], "gated norm");
    }
  }
}

TYPED_TEST(Precision, LongSumsHave45DigitsOfTheirTerms) {
  Rng rng(4);
  const std::vector<double> w = numbers(rng, 5120, -20, 0), x = numbers(rng, 5120, -20, 10);
  double size = 0;
  for (size_t i = 0; i < w.size(); ++i) size += std::fabs(w[i] * x[i]);
  expect_agreement(exact_sum_of_products<TypeParam>(w, x), exact_sum_of_products<Real100>(w, x),
                   size, "sum");
}

// That the comparison above can fail: 45 digits are more than a double has.
TEST(PrecisionOfADouble, IsNotEnough) {
  const Real100 exact = exact_sigmoid(Real100(1));
  EXPECT_GT(abs(Real100(1 / (1 + std::exp(-1.0))) - exact), digits_45 * exact);
}

}  // namespace
}  // namespace gdn
