// The fast exact path against sums in so many bits that nothing rounds: the exact value is always
// within the radius, and the radius is at most 2^-40 of sum |x w|.
#include "reference/exact_dot.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "reference/blocked_sums.h"
#include "reference/real.h"
#include "reference/rng.h"

namespace gdn {
namespace {

// Products of any float and any double, and their sums, are exact: 2^-1223 to 2^1153, 2,400 bits.
using Exact = mp::number<mp::mpfr_float_backend<800>, mp::et_off>;

constexpr double double_infinity = std::numeric_limits<double>::infinity();
constexpr float float_infinity = std::numeric_limits<float>::infinity();

struct ExactSums {
  Exact sum = 0, sum_abs = 0;
};

template <class Number>
ExactSums exact_sums(const std::vector<float>& w, const std::vector<Number>& x) {
  ExactSums sums;
  for (size_t i = 0; i < w.size(); ++i) {
    const Exact term = Exact(w[i]) * Exact(x[i]);
    sums.sum += term;
    sums.sum_abs += mp::abs(term);
  }
  return sums;
}

template <class Number>
void expect_proven(const std::vector<float>& w, const std::vector<Number>& x) {
  const ExactDot got = exact_dot(w, std::span<const Number>(x));
  const ExactSums want = exact_sums(w, x);
  ASSERT_TRUE(std::isfinite(got.value));
  EXPECT_LE(mp::abs(Exact(got.value) - want.sum), Exact(got.radius));
  EXPECT_GE(Exact(got.sum_abs), want.sum_abs);
  EXPECT_LE(Exact(got.sum_abs), want.sum_abs * Exact(1 + 0x1p-20)) << "rounded up too far";
  EXPECT_LE(got.radius, 0x1p-40 * got.sum_abs);
}

class Draw {
 public:
  explicit Draw(uint64_t seed) : rng_(seed) {}
  // In [-1, 1), with all 53 bits in use.
  double signed_unit() { return static_cast<double>(static_cast<int64_t>(rng_.next())) * 0x1p-63; }
  // Bell-shaped around 0.
  double bell() { return signed_unit() + signed_unit() + signed_unit(); }
  uint64_t pattern() { return rng_.next(); }
  int range(int low, int high) { return static_cast<int>(rng_.range(low, high)); }
  // Any finite float32 pattern, subnormals included.
  float any_float() {
    for (;;) {
      const float value = std::bit_cast<float>(static_cast<uint32_t>(rng_.next()));
      if (std::isfinite(value)) return value;
    }
  }
  double with_exponent(int low, int high) { return std::ldexp(bell(), range(low, high)); }
  template <class Element>
  void shuffle(std::vector<Element>& elements) {
    for (size_t i = elements.size(); i > 1; --i) {
      std::swap(elements[i - 1], elements[rng_.next() % i]);
    }
  }

 private:
  Rng rng_;
};

template <class Number>
std::vector<Number> numbers(size_t count, const std::function<double()>& draw) {
  std::vector<Number> result(count);
  for (Number& number : result) number = static_cast<Number>(draw());
  return result;
}

TEST(ExactDot, OfSmallIntegersIsTheInteger) {
  const std::vector<float> w{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const std::vector<float> x{1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1};
  const ExactDot got = exact_dot(w, std::span<const float>(x));
  EXPECT_EQ(got.value, 6);  // 1 - 2 + 3 - ... + 11
  EXPECT_GE(got.sum_abs, 66);
  EXPECT_LE(got.sum_abs, 66 * (1 + 0x1p-40));
}

TEST(ExactDot, OfNothingAndOfZerosIsZeroWithRadiusZero) {
  for (size_t count : {0, 1, 7, 8, 9, 64}) {
    const std::vector<float> w(count, 1.0F), x(count, 0.0F);
    const ExactDot got = exact_dot(w, std::span<const float>(x));
    EXPECT_EQ(got.value, 0);
    EXPECT_EQ(got.radius, 0);
    EXPECT_EQ(got.sum_abs, 0);
  }
}

TEST(ExactDot, KeepsWhatPlainDoubleLoses) {
  // 2^60 + 1 - 2^60: a plain double sum gives 0.
  const std::vector<float> w{0x1p60F, 1, -0x1p60F};
  const std::vector<float> x{1, 1, 1};
  EXPECT_EQ(exact_dot(w, std::span<const float>(x)).value, 1);
}

TEST(ExactDot, ContainsTheExactSumOfBellShapedRowsOfEveryLength) {
  Draw draw(1);
  for (size_t count = 1; count <= 130; ++count) {
    const auto w = numbers<float>(count, [&] { return draw.bell(); });
    expect_proven(w, numbers<float>(count, [&] { return draw.bell(); }));
    expect_proven(w, numbers<double>(count, [&] { return draw.bell(); }));
  }
}

TEST(ExactDot, ContainsTheExactSumOfLongRows) {
  Draw draw(2);
  for (int round = 0; round < 20; ++round) {
    const auto w = numbers<float>(5120, [&] { return draw.bell(); });
    expect_proven(w, numbers<float>(5120, [&] { return draw.bell(); }));
    expect_proven(w, numbers<double>(5120, [&] { return std::fabs(draw.bell()); }));
  }
}

TEST(ExactDot, ContainsTheExactSumOfArbitraryFloat32Patterns) {
  Draw draw(3);
  for (int round = 0; round < 300; ++round) {
    const size_t count = static_cast<size_t>(draw.range(1, 200));
    expect_proven(numbers<float>(count, [&] { return draw.any_float(); }),
                  numbers<float>(count, [&] { return draw.any_float(); }));
  }
}

// Terms that cancel to the last bit but for a small rest, in random order.
TEST(ExactDot, ContainsTheExactSumUnderCancellation) {
  Draw draw(4);
  for (int round = 0; round < 300; ++round) {
    const int spread = draw.range(0, 100);
    std::vector<std::pair<float, double>> terms;
    for (int pair = draw.range(1, 80); pair > 0; --pair) {
      const float w = static_cast<float>(draw.with_exponent(-spread, spread));
      const double x = draw.with_exponent(-spread, spread);
      terms.emplace_back(w, x);
      terms.emplace_back(-w, draw.range(0, 3) != 0 ? x : std::nextafter(x, 0.0));
    }
    draw.shuffle(terms);
    std::vector<float> w;
    std::vector<double> x;
    for (const auto& [weight, factor] : terms) {
      w.push_back(weight);
      x.push_back(factor);
    }
    expect_proven(w, x);
  }
}

TEST(ExactDot, ContainsTheExactSumOfDoublesOfAllModerateExponents) {
  Draw draw(5);
  for (int round = 0; round < 300; ++round) {
    const size_t count = static_cast<size_t>(draw.range(1, 100));
    expect_proven(numbers<float>(count, [&] { return draw.any_float(); }),
                  numbers<double>(count, [&] { return draw.with_exponent(-690, 690); }));
  }
}

// Around 2^-700 and 2^700 the fast path hands over; results beyond 2^-980 keep 2^-40.
TEST(ExactDot, ContainsTheExactSumWhereProductsLeaveTheFastRange) {
  Draw draw(6);
  for (int round = 0; round < 300; ++round) {
    const size_t count = static_cast<size_t>(draw.range(1, 40));
    expect_proven(numbers<float>(count, [&] { return draw.with_exponent(-20, 20); }),
                  numbers<double>(count, [&] { return draw.with_exponent(-900, 900); }));
    expect_proven(numbers<float>(count, [&] { return draw.with_exponent(-20, 20); }),
                  numbers<double>(count, [&] { return draw.with_exponent(-900, -650); }));
  }
}

TEST(ExactDot, LeavesOutNegligibleFactorsWithinItsRadius) {
  // The second term is 2^-700 of the first: the fast path leaves it out and says so.
  const std::vector<float> w{1, 1};
  const std::vector<double> x{1, 0x1p-701};
  expect_proven(w, x);
  EXPECT_GT(exact_dot(w, std::span<const double>(x)).radius, 0x1p-701);
}

TEST(ExactDot, OfSubnormalDoublesIsWithinARadiusOfDoublesLastUnits) {
  const std::vector<float> w{1, 0.5F};
  const std::vector<double> x{5e-324, 5e-324};
  const ExactDot got = exact_dot(w, std::span<const double>(x));
  const ExactSums want = exact_sums(w, x);
  EXPECT_LE(mp::abs(Exact(got.value) - want.sum), Exact(got.radius));
  EXPECT_GE(Exact(got.sum_abs), want.sum_abs);
  EXPECT_LE(got.radius, 4 * 5e-324);
}

TEST(ExactDot, OfHugeDoublesThatCancelIsFinite) {
  expect_proven(std::vector<float>{0x1p20F, -0x1p20F, 3},
                std::vector<double>{0x1p1000, 0x1p1000, 0x1p1000});
}

TEST(ExactDot, BeyondDoublesRangeIsInfiniteAndUndecided) {
  const std::vector<float> w{0x1p100F, 1};
  const std::vector<double> x{-0x1p1000, 1};
  const ExactDot got = exact_dot(w, std::span<const double>(x));
  EXPECT_EQ(got.value, -double_infinity);
  EXPECT_EQ(got.radius, double_infinity);
  EXPECT_EQ(got.sum_abs, double_infinity);
}

struct NotFinite {
  const char* what;
  float w0, x0, w1, x1;
  double want;  // NaN or an infinity
};

TEST(ExactDot, FollowsIeeeWhereAFactorIsNotFinite) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const NotFinite cases[] = {
      {"infinite weight", float_infinity, 2, 1, 1, double_infinity},
      {"infinite x", -2, float_infinity, 1, 1, -double_infinity},
      {"infinity times zero", float_infinity, 0, 1, 1, nan},
      {"zero times infinity", 0, float_infinity, 1, 1, nan},
      {"opposite infinities", float_infinity, 1, float_infinity, -1, nan},
      {"equal infinities", float_infinity, 1, -float_infinity, -1, double_infinity},
      {"NaN weight", nan, 1, 1, 1, nan},
      {"NaN x times zero", 0, nan, 1, 1, nan},
      {"NaN beside infinity", nan, 1, float_infinity, 1, nan},
  };
  for (const NotFinite& c : cases) {
    for (size_t count : {size_t{2}, size_t{8}, size_t{21}}) {
      std::vector<float> w(count, 1.0F), x(count, 1.0F);
      w[0] = c.w0, x[0] = c.x0, w[count - 1] = c.w1, x[count - 1] = c.x1;
      const std::vector<double> wide(x.begin(), x.end());
      for (const ExactDot& got :
           {exact_dot(w, std::span<const float>(x)), exact_dot(w, std::span<const double>(wide))}) {
        EXPECT_EQ(std::isnan(got.value), std::isnan(c.want)) << c.what;
        if (!std::isnan(c.want)) {
          EXPECT_EQ(got.value, c.want) << c.what;
        }
        EXPECT_EQ(got.radius, 0) << c.what;
        EXPECT_EQ(got.sum_abs, double_infinity) << c.what;
      }
    }
  }
}

TEST(ExactDot, AnInfiniteWeightTimesANegligibleFactorIsInfinite) {
  const std::vector<float> w{float_infinity, 1};
  const std::vector<double> x{0x1p-800, 1};
  EXPECT_EQ(exact_dot(w, std::span<const double>(x)).value, double_infinity);
}

// The blocks of four in sixteen lanes, one operation at a time through volatile variables, so that
// no compiler can use vectors.
double scalar_lanes(const std::vector<float>& w, const std::vector<double>& x) {
  constexpr size_t lanes = 16, step_count = 4;
  volatile double sum[lanes] = {}, correction[lanes] = {};
  const auto two_sum = [](double a, double b, double* error) {
    volatile double s = a + b;
    volatile double taken = s - a;
    volatile double a_rest = s - taken;
    a_rest = a - a_rest;
    volatile double b_rest = b - taken;
    *error = a_rest + b_rest;
    return double(s);
  };
  for (size_t begin = 0; begin < w.size(); begin += lanes * step_count) {
    for (size_t lane = 0; lane < lanes; ++lane) {
      volatile double block = 0;
      for (size_t i = begin + lane; i < begin + lanes * step_count && i < w.size(); i += lanes) {
        volatile double product = double(w[i]) * x[i];
        block = block + product;
      }
      double error = 0;
      sum[lane] = two_sum(sum[lane], block, &error);
      correction[lane] = correction[lane] + error;
    }
  }
  for (size_t half = lanes / 2; half > 0; half /= 2) {
    for (size_t lane = 0; lane < half; ++lane) {
      double error = 0;
      sum[lane] = two_sum(sum[lane], sum[lane + half], &error);
      volatile double rest = correction[lane + half] + error;
      correction[lane] = correction[lane] + rest;
    }
  }
  return sum[0] + correction[0];
}

TEST(ExactDot, IsWhatOneOperationAtATimeGives) {
  Draw draw(7);
  for (size_t count : {1, 5, 8, 13, 64, 100, 1000, 5120}) {
    const auto w = numbers<float>(count, [&] { return draw.with_exponent(-30, 30); });
    const auto x = numbers<double>(count, [&] { return draw.with_exponent(-30, 30); });
    EXPECT_EQ(exact_dot(w, std::span<const double>(x)).value, scalar_lanes(w, x)) << count;
  }
}

// What a width gives beside what the portable loop gives: equal bits, or NaN in both.
void expect_equal_bits(const std::vector<float>& w, const std::vector<double>& x) {
  const auto bits = [](double number) {
    return std::isnan(number) ? uint64_t{0} : std::bit_cast<uint64_t>(number);
  };
  const ExactDot want = exact_dot_by(VectorWidth::portable, w, x);
  for (const VectorWidth width : vector_widths_here()) {
    const ExactDot got = exact_dot_by(width, w, x);
    EXPECT_EQ(bits(got.value), bits(want.value)) << static_cast<int>(width);
    EXPECT_EQ(bits(got.radius), bits(want.radius)) << static_cast<int>(width);
    EXPECT_EQ(bits(got.sum_abs), bits(want.sum_abs)) << static_cast<int>(width);
    BlockedSums got_sums, want_sums;
    add_products(width, w.data(), x.data(), static_cast<int64_t>(w.size()), got_sums);
    add_products(VectorWidth::portable, w.data(), x.data(), static_cast<int64_t>(w.size()),
                 want_sums);
    for (int lane = 0; lane < sum_lanes; ++lane) {
      EXPECT_EQ(bits(got_sums.sum[lane]), bits(want_sums.sum[lane]));
      EXPECT_EQ(bits(got_sums.correction[lane]), bits(want_sums.correction[lane]));
      EXPECT_EQ(bits(got_sums.magnitude[lane]), bits(want_sums.magnitude[lane]));
    }
  }
}

TEST(ExactDot, GivesTheSameBitsForEveryVectorWidth) {
  Draw draw(10);
  for (int round = 0; round < 200; ++round) {
    const size_t count = static_cast<size_t>(draw.range(0, 300));
    const auto any = [&] { return double(draw.any_float()); };
    const auto subnormal = [&] { return draw.bell() * 0x1p-127; };
    const auto huge = [&] { return draw.bell() * 0x1p126; };
    expect_equal_bits(numbers<float>(count, any), numbers<double>(count, any));
    expect_equal_bits(numbers<float>(count, subnormal), numbers<double>(count, subnormal));
    expect_equal_bits(numbers<float>(count, huge),
                      numbers<double>(count, [&] { return draw.with_exponent(-1080, 1023); }));
    // Any pattern at all: of 256, one is infinite or NaN.
    const auto pattern = [&] {
      return double(std::bit_cast<float>(static_cast<uint32_t>(draw.pattern())));
    };
    expect_equal_bits(numbers<float>(count, pattern), numbers<double>(count, pattern));
  }
}

TEST(ExactMatvec, GivesEachRowTheBitsOfItsOwnDot) {
  Draw draw(8);
  for (const auto& [rows, cols] : {std::pair<size_t, size_t>{1, 1}, {3, 33}, {257, 1000}}) {
    const auto w = numbers<float>(rows * cols, [&] { return draw.bell(); });
    const auto x = numbers<float>(cols, [&] { return draw.bell(); });
    std::vector<ExactDot> out(rows);
    exact_matvec(w.data(), static_cast<int64_t>(rows), static_cast<int64_t>(cols), x, out);
    for (size_t row = 0; row < rows; ++row) {
      const std::span<const float> w_row(w.data() + row * cols, cols);
      const ExactDot want = exact_dot(w_row, std::span<const float>(x));
      EXPECT_EQ(out[row].value, want.value);
      EXPECT_EQ(out[row].radius, want.radius);
      EXPECT_EQ(out[row].sum_abs, want.sum_abs);
    }
  }
}

TEST(MultiprecisionDot, AgreesWithTheFastPathWithinBothRadii) {
  Draw draw(9);
  for (int round = 0; round < 50; ++round) {
    const auto w = numbers<float>(500, [&] { return draw.with_exponent(-40, 40); });
    const auto x = numbers<double>(500, [&] { return draw.with_exponent(-40, 40); });
    const ExactDot fast = exact_dot(w, std::span<const double>(x));
    const ExactDot slow = multiprecision_dot(w, x);
    EXPECT_LE(std::fabs(fast.value - slow.value), fast.radius + slow.radius);
    EXPECT_LE(mp::abs(Exact(slow.value) - exact_sums(w, x).sum), Exact(slow.radius));
  }
}

}  // namespace
}  // namespace gdn
