// The elementary functions of the kernels: literals, special values, the pieces of their proof, and
// correct rounding on a sample of all arguments (elementary_exhaustive tries the rest).
#include "device/kernels/elementary.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "device/kernels/half.cuh"
#include "reference/formats.h"
#include "reference/real.h"
#include "tests/elementary_checksum.h"
#include "tests/elementary_truth.h"

namespace gdn {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float smallest = 0x1p-149F;
constexpr float largest = 0x1.fffffep127F;

uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }
float number(uint32_t pattern) { return std::bit_cast<float>(pattern); }
bool is_negative_zero(float x) { return x == 0 && std::signbit(x); }

// e = 2.71828182845904523536; the float32 numbers around it are 2^-22 apart, and
// 0x1.5bf0a8p+1 = 2.71828174591... is 0.35 of that below.
TEST(Exp, HasTheKnownValues) {
  EXPECT_EQ(exp_f32(0.0F), 1.0F);
  EXPECT_EQ(exp_f32(-0.0F), 1.0F);
  EXPECT_EQ(exp_f32(1.0F), 0x1.5bf0a8p+1F);
  EXPECT_EQ(exp_f32(inf), inf);
  EXPECT_EQ(bits(exp_f32(-inf)), 0U);
}

// exp(x) rounds to infinity from 2^128 (1 - 2^-25) on: from x = 128 ln 2 - 2^-25 = 88.72283902...;
// the numbers around it are 88.72283172... and 88.72283935...
TEST(Exp, OverflowsWhereTheResultRoundsToInfinity) {
  EXPECT_LE(exp_f32(number(0x42b17217)), largest);
  EXPECT_EQ(exp_f32(number(0x42b17218)), inf);
  EXPECT_EQ(exp_f32(largest), inf);
}

// exp(x) is half the smallest subnormal, 2^-150, at x = -103.97207708...; the numbers around it are
// -103.97207641... and -103.97208404...
TEST(Exp, UnderflowsToSubnormalsAndThenToZero) {
  EXPECT_EQ(exp_f32(number(0xc2cff1b4)), smallest);
  EXPECT_EQ(bits(exp_f32(number(0xc2cff1b5))), 0U);
  // exp(-100) = 3.7200759760e-44 = 26.55 2^-149, to the nearest: 27 of them.
  EXPECT_EQ(exp_f32(-100.0F), 27 * smallest);
}

TEST(Exp, NextToZeroItIsOneOrANeighbour) {
  // 1 + 2^-24 is the midpoint above 1, and exp(2^-24) lies above it; exp(-2^-25) > 1 - 2^-25.
  EXPECT_EQ(exp_f32(0x1p-24F), 0x1.000002p0F);
  EXPECT_EQ(exp_f32(-0x1p-25F), 1.0F);
  EXPECT_EQ(exp_f32(std::nextafter(0x1p-24F, 0.0F)), 1.0F);
  EXPECT_EQ(exp_f32(smallest), 1.0F);
}

// ln 2 = 0.693147180559945; 0x1.62e43p-1 = 0.693147182464... is the nearest float32 number.
TEST(Log1p, HasTheKnownValues) {
  EXPECT_EQ(log1p_f32(1.0F), 0x1.62e43p-1F);
  EXPECT_EQ(bits(log1p_f32(0.0F)), bits(0.0F));
  EXPECT_TRUE(is_negative_zero(log1p_f32(-0.0F)));
  EXPECT_EQ(log1p_f32(-1.0F), -inf);
  EXPECT_EQ(log1p_f32(inf), inf);
  EXPECT_EQ(log1p_f32(smallest), smallest);
  EXPECT_EQ(log1p_f32(-smallest), -smallest);
  // log(2^-24) = -24 ln 2, and 24 = 3 2^3: -16.635532333 lies 0.03 of 2^-19 from 0x1.0a2b24p4.
  EXPECT_EQ(log1p_f32(-1.0F + 0x1p-24F), -0x1.0a2b24p4F);
}

TEST(Log1p, BelowMinusOneItIsNotANumber) {
  EXPECT_EQ(bits(log1p_f32(std::nextafter(-1.0F, -2.0F))), canonical_nan);
  EXPECT_EQ(bits(log1p_f32(-inf)), canonical_nan);
}

TEST(Sigmoid, HasTheKnownValues) {
  EXPECT_EQ(sigmoid_f32(0.0F), 0.5F);
  EXPECT_EQ(sigmoid_f32(-0.0F), 0.5F);
  EXPECT_EQ(sigmoid_f32(inf), 1.0F);
  EXPECT_EQ(bits(sigmoid_f32(-inf)), 0U);
  EXPECT_EQ(bits(sigmoid_f32(-largest)), 0U);
  // exp(-100) / (1 + exp(-100)): the divisor changes nothing.
  EXPECT_EQ(sigmoid_f32(-100.0F), 27 * smallest);
}

// 1 - exp(-x) is 1 - 2^-25, the midpoint below 1, at x = 25 ln 2 = 17.3286795...
TEST(Sigmoid, ReachesOneWhereTheRestIsBelowAQuarterUlp) {
  EXPECT_EQ(sigmoid_f32(17.32F), 1.0F - 0x1p-24F);
  EXPECT_EQ(sigmoid_f32(17.33F), 1.0F);
}

TEST(Rsqrt, HasTheKnownValues) {
  EXPECT_EQ(rsqrt_f32(4.0F), 0.5F);
  EXPECT_EQ(rsqrt_f32(0x1p-148F), 0x1p74F);
  EXPECT_EQ(rsqrt_f32(smallest), 0x1.6a09e6p74F);  // sqrt(2) = 1.41421356 = 0x1.6a09e667...
  EXPECT_EQ(rsqrt_f32(0.0F), inf);
  EXPECT_EQ(rsqrt_f32(-0.0F), -inf);
  EXPECT_EQ(bits(rsqrt_f32(inf)), 0U);
  EXPECT_EQ(bits(rsqrt_f32(-smallest)), canonical_nan);
  EXPECT_EQ(bits(rsqrt_f32(-inf)), canonical_nan);
}

TEST(Softplus, FollowsItsThreeBranches) {
  EXPECT_EQ(softplus_f32(0.0F), 0x1.62e43p-1F);
  EXPECT_EQ(softplus_f32(number(bits(20.0F) + 1)), number(bits(20.0F) + 1));
  EXPECT_EQ(softplus_f32(100.0F), 100.0F);
  EXPECT_EQ(softplus_f32(inf), inf);
  EXPECT_EQ(softplus_f32(-100.0F), 27 * smallest);
  EXPECT_EQ(bits(softplus_f32(-inf)), 0U);
}

TEST(Silu, HasTheKnownValues) {
  EXPECT_EQ(bits(silu_f32(0.0F)), bits(0.0F));
  EXPECT_TRUE(is_negative_zero(silu_f32(-0.0F)));
  EXPECT_EQ(silu_f32(inf), inf);
  EXPECT_EQ(bits(silu_f32(-inf)), canonical_nan);
  EXPECT_TRUE(is_negative_zero(silu_f32(-largest)));
  EXPECT_EQ(silu_f32(largest), largest);
  // -100 exp(-100) = -3.7200759760e-42 = -2654.73 2^-149.
  EXPECT_EQ(silu_f32(-100.0F), -2655 * smallest);
  // x/2 + x^2/4: the midpoint 3/2 of the smallest is passed by a term far below double's last
  // place.
  EXPECT_EQ(silu_f32(3 * smallest), 2 * smallest);
  EXPECT_EQ(silu_f32(smallest), smallest);
  EXPECT_TRUE(is_negative_zero(silu_f32(-smallest)));
  EXPECT_EQ(silu_f32(-3 * smallest), -smallest);
  EXPECT_EQ(silu_f32(5 * smallest), 3 * smallest);
}

TEST(Elementary, EveryNanGivesTheCanonicalOne) {
  for (const uint32_t pattern : {0x7fc00000U, 0xffc00000U, 0x7f800001U, 0xff800001U, 0x7fffffffU}) {
    for (const ElementaryFunction& function : elementary_functions) {
      EXPECT_EQ(bits(function.evaluate(number(pattern))), canonical_nan) << function.name;
    }
  }
}

TEST(ErrorFreeSteps, SumsAndProductsAreExact) {
  const double most = 0x1p53 - 1;  // its square is 2^106 - 2^54 + 1
  const elementary::DoublePair square = elementary::two_product(most, most);
  EXPECT_EQ(square.high, 0x1p106 - 0x1p54);
  EXPECT_EQ(square.low, 1.0);
  const elementary::DoublePair sum = elementary::two_sum(0x1p-60, -1.0);
  EXPECT_EQ(sum.high, -1.0);
  EXPECT_EQ(sum.low, 0x1p-60);
}

TEST(RoundOnce, ASmallRestDecidesAtAMidpoint) {
  const auto rounded = [](double high, double low) { return elementary::round_once({high, low}); };
  const double midpoint = 1 + 0x1p-24;
  EXPECT_EQ(rounded(midpoint, 0x1p-80), 0x1.000002p0F);
  EXPECT_EQ(rounded(midpoint, 0.0), 1.0F);
  EXPECT_EQ(rounded(midpoint, -0x1p-80), 1.0F);
  EXPECT_EQ(rounded(-midpoint, -0x1p-80), -0x1.000002p0F);
  EXPECT_EQ(rounded(-midpoint, 0x1p-80), -1.0F);
  EXPECT_EQ(rounded(1 + 0x1.8p-23, -0x1p-80), 0x1.000002p0F);
  EXPECT_EQ(rounded(0x1p-150, 0x1p-300), smallest);
  EXPECT_EQ(rounded(0x1p-150, -0x1p-300), 0.0F);
  EXPECT_EQ(rounded(0x1.ffffffp127, -1.0), largest);
  EXPECT_EQ(rounded(0x1.ffffffp127, 0.0), inf);
}

// Proves rsqrt for every argument: multiplying x by 4 halves every step exactly, so the
// significands with even and with odd exponents are all there is. r = n 2^-q is the nearest to
// 1/sqrt(x) exactly where (2n - 1)^2 x < 2^(2q + 2) < (2n + 1)^2 x, in integers; below a power of
// two, the midpoint is n - 1/4.
TEST(Rsqrt, EverySignificandIsCorrectlyRounded) {
  __extension__ typedef unsigned __int128 Wide;
  size_t wrong = 0;
  for (uint32_t significand = 1U << 23; significand < 1U << 24; ++significand) {
    for (const unsigned parity : {0U, 1U}) {
      const uint64_t x = uint64_t{significand} << parity;
      const uint32_t r = bits(rsqrt_f32(static_cast<float>(x)));
      const Wide n = (r & 0x7fffffU) | 0x800000U;
      const int q = 150 - static_cast<int>(r >> 23);
      const Wide below = n == 0x800000U ? 4 * n - 1 : 4 * n - 2;
      const Wide above = 4 * n + 2;
      const Wide one = Wide{1} << (2 * q + 4);
      wrong += below * below * x >= one || above * above * x <= one;
    }
  }
  EXPECT_EQ(wrong, 0U);
}

void expect_correct(const ElementaryFunction& function, uint32_t pattern, size_t* wrong) {
  const float x = number(pattern);
  const float got = function.evaluate(x);
  const Truth truth = truth_of(function, x);
  if (correctly_rounded(got, truth)) return;
  if (++*wrong > 3) return;
  ADD_FAILURE() << function.name << "(" << std::hexfloat << x << " = 0x" << std::hex << pattern
                << ") gives " << got << ", 0x" << bits(got) << ", want " << truth.nearest << ", 0x"
                << bits(truth.nearest) << "; error " << std::defaultfloat << error_ulp(got, truth)
                << " ulp";
}

TEST(Elementary, ASampleOfAllArgumentsIsCorrectlyRounded) {
  constexpr uint64_t stride = 4099;  // odd, so that every low bit takes both values
  for (const ElementaryFunction& function : elementary_functions) {
    size_t wrong = 0;
    for (uint64_t i = 0; i < uint64_t{1} << 32; i += stride) {
      expect_correct(function, static_cast<uint32_t>(i), &wrong);
    }
    EXPECT_EQ(wrong, 0U) << function.name;
  }
}

// Where a branch begins, a result saturates or a reduction takes the next integer.
std::vector<float> thresholds() {
  std::vector<float> all = {0.0F,       0x1p-26F, 20.0F, 150.0F,   103.97208F, 88.72284F,
                            17.328680F, 0x1p-24F, 1.0F,  inf,      4.0F,       0x1p-126F,
                            0x1p53F,    largest,  87.0F, 0x1p-100F};
  for (int k = 0; k <= 151; ++k) {
    all.push_back(static_cast<float>((k + 0.5) * 0.6931471805599453));  // exp_pair's k changes
    const float power = std::ldexp(1.0F, std::max(k - 24, 0));
    all.push_back(power * 1.4142135F - 1.0F);  // log_pair's k changes
    all.push_back(1.0F - 0.70710677F * std::ldexp(1.0F, -k));
  }
  return all;
}

TEST(Elementary, TheNeighbourhoodsOfAllThresholdsAreCorrectlyRounded) {
  constexpr int radius = 500;
  for (const ElementaryFunction& function : elementary_functions) {
    size_t wrong = 0;
    for (const float threshold : thresholds()) {
      for (const float centre : {threshold, -threshold}) {
        for (int i = -radius; i <= radius; ++i) {
          expect_correct(function, bits(centre) + static_cast<uint32_t>(i), &wrong);
        }
      }
    }
    EXPECT_EQ(wrong, 0U) << function.name;
  }
}

TEST(Elementary, TheCheckSeesOneWrongUlpAndDoubleRounding) {
  const ElementaryFunction& sigmoid = elementary_functions[2];
  ASSERT_EQ(sigmoid.name, "sigmoid");
  const float x = 0.3F;
  const Truth truth = truth_of(sigmoid, x);
  EXPECT_TRUE(correctly_rounded(sigmoid_f32(x), truth));
  EXPECT_FALSE(correctly_rounded(std::nextafter(sigmoid_f32(x), inf), truth));
  // By the book in float32, each step correctly rounded, it is wrong in a good share of cases.
  size_t wrong = 0;
  for (int i = -1000; i <= 1000; ++i) {
    const float y = static_cast<float>(i) / 128.0F;
    wrong += !correctly_rounded(1.0F / (1.0F + exp_f32(-y)), truth_of(sigmoid, y));
  }
  EXPECT_GT(wrong, 100U);
}

// |approximate - exact| in units of 2^-53 of the exact value.
double error_in_w(elementary::DoublePair got, const Real& want) {
  return static_cast<double>(abs((Real(got.high) + Real(got.low) - want) / want)) * 0x1p53;
}

TEST(Proof, PairsLieWithinTheirBounds) {
  double worst_exp = 0;
  double worst_log = 0;
  double worst_sigmoid = 0;
  for (int i = 0; i < 20000; ++i) {
    const float x = std::fmod(static_cast<float>(i) * 0.61803399F, 300.0F) - 150.0F;
    const Real e = exp(Real(x));
    worst_exp = std::max(worst_exp, error_in_w(elementary::exp_pair(x), e));
    worst_sigmoid = std::max(worst_sigmoid, error_in_w(elementary::sigmoid_pair(x), e / (1 + e)));
    const float y = std::exp2(x / 4) * 0.7F - 0.49F;  // around 1 + y = sqrt(1/2) ... 2^37
    const elementary::DoublePair sum = elementary::two_sum(1.0, y);
    worst_log = std::max(worst_log, error_in_w(elementary::log_pair(sum), log(1 + Real(y))));
  }
  RecordProperty("worst_exp_w", std::to_string(worst_exp));
  RecordProperty("worst_sigmoid_w", std::to_string(worst_sigmoid));
  RecordProperty("worst_log_w", std::to_string(worst_log));
  EXPECT_LT(worst_exp, 0.25);
  EXPECT_LT(worst_sigmoid, 0.26);
  EXPECT_LT(worst_log, 0.27);
  // The bounds are not idle: a tenth of each is reached.
  EXPECT_GT(worst_exp, 0.025);
  EXPECT_GT(worst_sigmoid, 0.026);
  EXPECT_GT(worst_log, 0.027);
}

// Lagrange: |exp(r) - sum to r^14| <= |r|^15/15! max(1, exp(r)), and both divided by exp(r).
TEST(Proof, WhatTheExpPolynomialCutsOffIsBelow2ToTheMinus62) {
  const Real r("0.3466");
  Real factorial = 1;
  for (int i = 2; i <= 15; ++i) factorial *= i;
  EXPECT_LT(pow(r, 15) / factorial * exp(r), pow(Real(2), -62));
}

// 2 atanh(s) - sum to s^21 = sum over n >= 11 of 2 s^(2n+1)/(2n+1) <= 2 s^23/23 / (1 - s^2),
// against a logarithm of at least 2 s, at the largest s = (sqrt(2) - 1)/(sqrt(2) + 1).
TEST(Proof, WhatTheLogPolynomialCutsOffIsBelow2ToTheMinus60) {
  const Real s = (sqrt(Real(2)) - 1) / (sqrt(Real(2)) + 1);
  EXPECT_LT(pow(s, 22) / 23 / (1 - s * s), pow(Real(2), -60));
}

TEST(Proof, ThePartsOfLn2LackLessThan2ToTheMinus102) {
  const Real lacking = log(Real(2)) - Real(elementary::ln2_high) - Real(elementary::ln2_low);
  EXPECT_LT(abs(lacking), pow(Real(2), -102));
  // 42 significant bits: a multiple of 2^-42, so that k ln2_high is exact for |k| < 2^11.
  EXPECT_EQ(elementary::ln2_high * 0x1p42, std::trunc(elementary::ln2_high * 0x1p42));
}

// The truth of the samples rests on the C library's double within 2^-46; MPFR confirms it.
TEST(Proof, TheApproximationsThatDecideMostRoundingsAreGoodEnough) {
  for (const ElementaryFunction& function : elementary_functions) {
    double worst = 0;
    for (uint64_t i = 0; i < uint64_t{1} << 32; i += 262147) {
      const float x = number(static_cast<uint32_t>(i));
      const double approximate = function.approximate(x);
      if (!std::isfinite(approximate) || std::fabs(approximate) < 0x1p-200) continue;
      Exact y(x);
      function.exact(y.get());
      mpfr_d_sub(y.get(), approximate, y.get(), MPFR_RNDN);
      mpfr_div_d(y.get(), y.get(), approximate, MPFR_RNDN);
      worst = std::max(worst, std::fabs(mpfr_get_d(y.get(), MPFR_RNDN)));
    }
    EXPECT_LT(worst, 0x1p-50) << function.name;
  }
}

TEST(Half, BothDecodersAgreeWithTheReferenceOnEveryPattern) {
  for (uint32_t i = 0; i < 65536; ++i) {
    const uint16_t half = static_cast<uint16_t>(i);
    const float want = f16_decode(half);
    const uint32_t want_bits = std::isnan(want) ? canonical_nan : bits(want);
    ASSERT_EQ(bits(half_to_float_by_integers(half)), want_bits) << std::hex << i;
    ASSERT_EQ(bits(half_to_float(half)), want_bits) << std::hex << i;
  }
}

// What elementary_gpu and elementary_exhaustive compare with is the table of the search.
TEST(Checksums, AreThoseOfThePage) {
  std::ifstream file(SOURCE_DIR "/docs/elementary.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  for (const KnownChecksum& known : known_checksums) {
    char printed[17];
    std::snprintf(printed, sizeof printed, "%016llx",
                  static_cast<unsigned long long>(known.of_all));
    const size_t row = page.find("\n    " + std::string(known.function) + " ");
    ASSERT_NE(row, std::string::npos) << known.function;
    const std::string line = page.substr(row + 1, page.find('\n', row + 1) - row);
    EXPECT_NE(line.find(printed), std::string::npos) << line;
  }
}

TEST(Half, HasTheKnownValues) {
  EXPECT_EQ(half_to_float_by_integers(0x3c00), 1.0F);
  EXPECT_EQ(half_to_float_by_integers(0xc000), -2.0F);
  EXPECT_EQ(half_to_float_by_integers(0x0001), 0x1p-24F);
  EXPECT_EQ(half_to_float_by_integers(0x83ff), -0x3ffp-24F);
  EXPECT_EQ(half_to_float_by_integers(0x0400), 0x1p-14F);
  EXPECT_EQ(half_to_float_by_integers(0x7bff), 65504.0F);
  EXPECT_EQ(half_to_float_by_integers(0xfc00), -inf);
  EXPECT_TRUE(is_negative_zero(half_to_float_by_integers(0x8000)));
  EXPECT_EQ(bits(half_to_float_by_integers(0x7c01)), canonical_nan);
  EXPECT_EQ(bits(half_to_float_by_integers(0xfe00)), canonical_nan);
}

}  // namespace
}  // namespace gdn
