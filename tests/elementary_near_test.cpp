// The near values of the elementary functions, one double each: their bounds for seeds as bad as a
// machine may have, where they are taken and where not, and arguments that only the pairs decide.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "device/kernels/elementary.cuh"
#include "reference/real.h"
#include "tests/elementary_truth.h"

namespace gdn {
namespace {

using elementary::MachineSeeds;
using elementary::rounds_as_its_neighbours;

constexpr double w = 0x1p-53;
constexpr float smallest = 0x1p-149F;
constexpr float largest = 0x1.fffffep127F;

uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }
float number(uint32_t pattern) { return std::bit_cast<float>(pattern); }

// Seeds that are off by as much as a machine's may be, and by four times that.
template <int sign, int exponent = -18>
struct SeedsOff {
  static double off() { return 1 + sign * std::ldexp(1.0, exponent); }
  static double reciprocal(double x) { return off() / x; }
  static double rsqrt(double x) { return off() / std::sqrt(x); }
};
using SeedsAbove = SeedsOff<1>;
using SeedsBelow = SeedsOff<-1>;
using SeedsTooFar = SeedsOff<1, -16>;

// The functions of elementary.cuh that have a near value, with the seeds of a test.
template <class Seeds>
double near_exp(float x) {
  return elementary::near_exp(x);
}
template <class Seeds>
double near_sigmoid(float x) {
  return elementary::near_sigmoid<Seeds>(x);
}
template <class Seeds>
double near_silu(float x) {
  return x * elementary::near_sigmoid<Seeds>(x);
}
template <class Seeds>
double near_softplus(float x) {
  return elementary::near_softplus<Seeds>(x);
}
template <class Seeds>
double near_rsqrt(float x) {
  return elementary::near_rsqrt<Seeds>(x);
}

struct NearFunction {
  std::string_view name;  // of elementary_functions
  double (*near[3])(float);
  Real (*exact)(const Real&);
  double bound_w;  // derived in docs/elementary.md
};
#define GDN_NEAR(function) \
  { function<MachineSeeds>, function<SeedsAbove>, function<SeedsBelow> }

const NearFunction near_functions[] = {
    {"exp", GDN_NEAR(near_exp), [](const Real& x) -> Real { return exp(x); }, 3.8},
    {"sigmoid", GDN_NEAR(near_sigmoid), [](const Real& x) -> Real { return 1 / (1 + exp(-x)); },
     7.4},
    {"silu", GDN_NEAR(near_silu), [](const Real& x) -> Real { return x / (1 + exp(-x)); }, 8.5},
    {"softplus", GDN_NEAR(near_softplus), [](const Real& x) -> Real { return log1p(exp(x)); }, 11},
    {"rsqrt", GDN_NEAR(near_rsqrt), [](const Real& x) -> Real { return 1 / sqrt(x); }, 3.3},
};
#undef GDN_NEAR

const ElementaryFunction& function_of(std::string_view name) {
  return *std::ranges::find(elementary_functions, name, &ElementaryFunction::name);
}

double error_in_w(double got, const Real& want) {
  return static_cast<double>(abs((Real(got) - want) / want)) / w;
}

// Whether the function asks its near value: what elementary.cuh says, in words of its own.
bool in_range(std::string_view name, float x) {
  if (name == "rsqrt") return x >= 0x1p-126F && x <= largest;
  if (name == "softplus") return std::fabs(x) <= 20;
  return std::fabs(x) <= 87 && (name != "silu" || std::fabs(x) >= 0x1p-100F);
}

// Ends of the ranges, both sides of each place where exp takes the next k, and of log(1 +
// exp(x))'s, that is 1 + exp(x) = 2^k sqrt(2); and a dense sample, of numbers and of patterns.
std::vector<float> arguments(std::string_view name) {
  std::vector<float> centres = {0.0F, smallest, 0x1p-126F, 0x1p-100F, 0x1p-53F, 0x1p-24F, 1.0F,
                                2.0F, 4.0F,     20.0F,     87.0F,     0x1p127F, largest};
  for (int k = 0; k <= 125; ++k) {
    centres.push_back(static_cast<float>((k + 0.5) * 0.6931471805599453));
    centres.push_back(static_cast<float>(std::log(std::ldexp(1.4142135623730951, k) - 1)));
  }
  std::vector<float> all;
  for (const float centre : centres) {
    for (int i = -20; i <= 20; ++i) {
      const float x = number(bits(centre) + static_cast<uint32_t>(i));
      all.insert(all.end(), {x, -x});
    }
  }
  for (int i = 0; i < 20000; ++i) {
    const float unit = static_cast<float>(std::fmod(i * 0.6180339887498949, 1.0));
    all.insert(all.end(), {174 * unit - 87, 2 * unit - 1, 1 + 3 * unit});
  }
  for (uint64_t i = 0; i < uint64_t{1} << 32; i += 262147) {
    all.push_back(number(static_cast<uint32_t>(i)));
  }
  std::erase_if(all, [&](float x) { return !in_range(name, x); });
  return all;
}

TEST(Near, EachLiesWithinItsBoundForAnySeedOfAMachine) {
  for (const NearFunction& function : near_functions) {
    double worst = 0;
    size_t tried = 0;
    for (const float x : arguments(function.name)) {
      const Real want = function.exact(Real(x));
      for (const auto near : function.near) worst = std::max(worst, error_in_w(near(x), want));
      ++tried;
    }
    RecordProperty("worst_" + std::string(function.name) + "_w", std::to_string(worst));
    EXPECT_GT(tried, 10000U) << function.name;
    EXPECT_LT(worst, function.bound_w) << function.name;
    EXPECT_GT(worst, function.bound_w / 4) << function.name << ": the bound is idle";
  }
}

// It holds the error of a near value and that of the pairs, 2 w at most, whose rounding is to be
// that of the near value.
TEST(Near, TheMarginHoldsBothBounds) {
  for (const NearFunction& function : near_functions) {
    EXPECT_LE(function.bound_w + 2, elementary::near_margin) << function.name;
  }
}

TEST(Near, PartsLieWithinTheirBoundsForAnySeedOfAMachine) {
  double worst_reciprocal = 0;
  double worst_log = 0;
  double too_far = 0;
  std::vector<double> all = {1.0, std::nextafter(2.0, 1.0), std::sqrt(0.5) + 1, 0x1p126};
  for (int i = 0; i < 30000; ++i) all.push_back(1 + std::fmod(i * 0.6180339887498949, 1.0));
  for (int i = 0; i < 2000; ++i) all.push_back(std::exp2(i * 0.063));
  for (const double x : all) {
    const Real want = 1 / Real(x);
    for (const double got :
         {elementary::near_reciprocal(x), elementary::near_reciprocal<SeedsAbove>(x),
          elementary::near_reciprocal<SeedsBelow>(x)}) {
      worst_reciprocal = std::max(worst_reciprocal, error_in_w(got, want));
    }
    too_far = std::max(too_far, error_in_w(elementary::near_reciprocal<SeedsTooFar>(x), want));
  }
  for (int i = 0; i < 60000; ++i) {
    const double x = std::exp2(std::fmod(i * 0.6180339887498949, 1.0) * (i % 2 == 0 ? 58 : 4) -
                               (i % 2 == 0 ? 29 : 3));
    const Real want = log1p(Real(x));
    for (const double got : {elementary::near_log_of_one_plus<SeedsAbove>(x),
                             elementary::near_log_of_one_plus<SeedsBelow>(x)}) {
      worst_log = std::max(worst_log, error_in_w(got, want));
    }
  }
  RecordProperty("worst_reciprocal_w", std::to_string(worst_reciprocal));
  RecordProperty("worst_log_w", std::to_string(worst_log));
  EXPECT_LT(worst_reciprocal, 2.6);
  EXPECT_LT(worst_log, 7.2);
  EXPECT_GT(worst_log, 7.2 / 4);
  // e^3 of a seed that is off by 2^-16 is 32 w: this check would see it.
  EXPECT_GT(too_far, 30);
}

// Lagrange: |exp(r) - sum to r^12| <= |r|^13/13! max(1, exp(r)), against exp(r).
TEST(Proof, WhatTheNearExpCutsOffIsBelowItsPart) {
  const Real r("0.3466");
  Real factorial = 1;
  for (int i = 2; i <= 13; ++i) factorial *= i;
  EXPECT_LT(pow(r, 13) / factorial * exp(r), Real("2.2") * w);
}

// sum over n >= 10 of 2 s^(2n+1)/(2n+1) <= 2 s^21/21 / (1 - s^2), against at least 2 s.
TEST(Proof, WhatTheNearLogCutsOffIsBelow2ToTheMinus55) {
  const Real s = (sqrt(Real(2)) - 1) / (sqrt(Real(2)) + 1);
  EXPECT_LT(pow(s, 20) / 21 / (1 - s * s), pow(Real(2), -55));
}

// exp(87) = 6.08e37 and 2^126 = 8.5e37; exp(-87) = 1.64e-38 and 2^-126 = 1.175e-38.
TEST(Near, TheirRangesKeepToNormalFloat32Numbers) {
  EXPECT_LT(near_exp<MachineSeeds>(elementary::near_max), 0x1p126);
  EXPECT_GT(near_exp<MachineSeeds>(-elementary::near_max), 0x1p-126);
  EXPECT_GT(near_sigmoid<MachineSeeds>(-elementary::near_max), 0x1p-126);
  EXPECT_LT(near_silu<MachineSeeds>(-elementary::near_max), -0x1p-126);
  EXPECT_GT(near_silu<MachineSeeds>(0x1p-100F), 0x1p-126);
  EXPECT_GT(near_softplus<MachineSeeds>(-20.0F), 0x1p-126);
}

// 1 + 2^-24 is the midpoint of 1 and 1 + 2^-23; numbers of double are 2^-52 apart there, so the
// margin ends 64 2^-52 = 2^-46 from it. 2 - 2^-24 is the midpoint below 2.
TEST(RoundsAsItsNeighbours, EndsAtItsMargin) {
  for (const double scale : {1.0, -1.0, 0x1p-126, -0x1p126}) {
    for (const double midpoint : {1 + 0x1p-24, 2 - 0x1p-24, 1 + 0x1.8p-23}) {
      EXPECT_FALSE(rounds_as_its_neighbours(scale * midpoint));
      EXPECT_FALSE(rounds_as_its_neighbours(scale * (midpoint - 0x1p-46)));
      EXPECT_FALSE(rounds_as_its_neighbours(scale * (midpoint + 0x1p-46)));
      EXPECT_TRUE(rounds_as_its_neighbours(scale * (midpoint - 0x1p-46 - 0x1p-52)));
      EXPECT_TRUE(rounds_as_its_neighbours(scale * (midpoint + 0x1p-46 + 0x1p-52)));
    }
    for (const double number :
         {1.0, 1 + 0x1p-52, 2 - 0x1p-52, 1 + 0x1p-23, 1 + 0x1p-23 - 0x1p-52}) {
      EXPECT_TRUE(rounds_as_its_neighbours(scale * number));
    }
  }
}

// Below 2 a number of double is w of itself, so 64 w of it are all of the margin.
TEST(RoundsAsItsNeighbours, WhatItSaysYesToRoundsAsAllWithin64W) {
  for (const double midpoint : {1 + 0x1p-24, 2 - 0x1p-24, 1 + 0x1.8p-23}) {
    for (const double rest : {-0x1p-46 - 0x1p-52, 0x1p-46 + 0x1p-52}) {
      const double y = midpoint + rest;
      ASSERT_TRUE(rounds_as_its_neighbours(y));
      EXPECT_EQ(static_cast<float>(y * (1 - 64 * w)), static_cast<float>(y));
      EXPECT_EQ(static_cast<float>(y * (1 + 64 * w)), static_cast<float>(y));
    }
  }
}

// Arguments whose result lies so near a midpoint that its near value is not taken: found by trying
// all, among the nearest of each; the results by MPFR with 400 bits.
struct Hard {
  std::string_view name;
  float x;
  float result;
};
constexpr Hard hard[] = {
    {"exp", -0x1.d2259ap+3F, 0x1.fa6636p-22F},      // 1.28 w above a midpoint
    {"exp", -0x1.e1dbe2p-8F, 0x1.fc3fd2p-1F},       // 2.44 w
    {"exp", 0x1.fdff02p-17F, 0x1.0001p+0F},         // 5.46 w
    {"exp", -0x1p-25F, 1.0F},                       // 4 w: 1 - 2^-25 + 2^-51
    {"sigmoid", 0x1.0ep-16F, 0x1.000086p-1F},       // 1.56 w below
    {"sigmoid", 0x1.02p-16F, 0x1.00008p-1F},        // 1.36 w below
    {"sigmoid", -0x1.cap-17F, 0x1.ffff1cp-2F},      // 0.95 w
    {"rsqrt", 0x1.7431c6p+1F, 0x1.2c413cp-1F},      // 2.4 w below
    {"rsqrt", 0x1.13e07p+1F, 0x1.5cc0aap-1F},       // 16.2 w
    {"rsqrt", 0x1.fffffcp+1F, 0x1.000002p-1F},      // 48 w
    {"softplus", 0x1.d483ap-12F, 0x1.63017ap-1F},   // 0.064 w
    {"softplus", 0x1.ad174ep-10F, 0x1.634f82p-1F},  // 1.76 w
    {"softplus", 0x1.47f11p+2F, 0x1.485248p+2F},    // 1.37 w below
    {"silu", -0x1.2p-17F, -0x1.1fffbp-18F},         // 0.24 w
    {"silu", -0x1.6p-17F, -0x1.5fff88p-18F},        // 0.43 w
    {"silu", 0x1.24d91cp-15F, 0x1.24da6ap-16F},     // 2.52 w below
};

TEST(Near, NextToAMidpointItIsNotTakenAndThePairsDecide) {
  for (const Hard& one : hard) {
    const NearFunction& function =
        *std::ranges::find(near_functions, one.name, &NearFunction::name);
    for (const auto near : function.near) {
      EXPECT_FALSE(rounds_as_its_neighbours(near(one.x)))
          << one.name << "(" << std::hexfloat << one.x << "), near " << near(one.x);
    }
    EXPECT_EQ(function_of(one.name).evaluate(one.x), one.result)
        << one.name << "(" << std::hexfloat << one.x << ")";
  }
}

// sigmoid(x) = 1/2 + x/4 - x^3/48 + ...; for x = 3 2^-23 the midpoint 1/2 + 3 2^-25 less 2^-69.8.
// The near value is that midpoint, and to even it would be rounded up. So for 7 2^-23 and 11 2^-23.
TEST(Near, RoundedWithoutAMarginItWouldBeWrong) {
  for (const auto& [x, below] :
       {std::pair{0x1.8p-22F, 0x1.000002p-1F}, std::pair{0x1.cp-21F, 0x1.000006p-1F},
        std::pair{0x1.6p-20F, 0x1.00000ap-1F}}) {
    const double near = near_sigmoid<MachineSeeds>(x);
    EXPECT_EQ(static_cast<float>(near), below + 0x1p-24F);
    EXPECT_FALSE(rounds_as_its_neighbours(near));
    EXPECT_EQ(sigmoid_f32(x), below);
  }
}

// What rests on the margin: whatever the seeds, a near value that is taken is the right result.
TEST(Near, WhatIsTakenIsCorrectlyRoundedForAnySeedOfAMachine) {
  for (const NearFunction& function : near_functions) {
    size_t wrong = 0;
    size_t taken = 0;
    for (const float x : arguments(function.name)) {
      const Truth truth = truth_of(function_of(function.name), x);
      for (const auto near : function.near) {
        const double y = near(x);
        if (!rounds_as_its_neighbours(y)) continue;
        ++taken;
        wrong += !correctly_rounded(static_cast<float>(y), truth);
      }
    }
    EXPECT_EQ(wrong, 0U) << function.name;
    EXPECT_GT(taken, 30000U) << function.name;
  }
}

// The pairs too are right everywhere, though they are asked for few arguments.
TEST(Near, PairsAloneAreCorrectlyRoundedToo) {
  using namespace elementary;
  constexpr float (*pairs[])(float) = {
      [](float x) { return round_once(exp_pair(x)); },
      [](float x) { return round_once(sigmoid_pair(x)); },
      [](float x) { return round_once(log_pair(one_plus(exp_pair(x)))); },
  };
  constexpr std::string_view names[] = {"exp", "sigmoid", "softplus"};
  for (size_t i = 0; i < std::size(pairs); ++i) {
    size_t wrong = 0;
    for (const float x : arguments(names[i])) {
      wrong += !correctly_rounded(pairs[i](x), truth_of(function_of(names[i]), x));
    }
    EXPECT_EQ(wrong, 0U) << names[i];
  }
}

}  // namespace
}  // namespace gdn
