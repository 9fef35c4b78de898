// Double-double arithmetic against numbers of a hundred digits: its proven roundoff, and the exact
// state that the running recurrence holds in it.
#include "reference/double_double.h"

#include <gtest/gtest.h>

#include <cmath>

#include "reference/delta_rule_exact.h"
#include "reference/real.h"
#include "tests/delta_rule_float.h"

namespace gdn {
namespace {

Real100 wide(const DoubleDouble& x) { return Real100(x.hi) + Real100(x.lo); }

DoubleDouble draw(Rng& rng) {
  // 24 bits each, overlapping or far apart, of either sign and of sizes from 2^-40 to 2^40.
  const double high = std::ldexp(rng.signed_unit() + 0x1p-30 * rng.signed_unit(),
                                 static_cast<int>(rng.range(-40, 40)));
  return quick_two_sum(high, high * 0x1p-53 * rng.signed_unit());
}

void expect_close(const DoubleDouble& got, const Real100& exact) {
  EXPECT_LE(Real100(abs(Real100(wide(got) - exact))),
            Real100(double_double_roundoff * Real100(abs(exact))));
}

TEST(DoubleDouble, SumsAndProductsRoundByNoMoreThanProven) {
  Rng rng(71);
  for (int i = 0; i < 20000; ++i) {
    const DoubleDouble a = draw(rng), b = draw(rng);
    expect_close(a + b, Real100(wide(a) + wide(b)));
    expect_close(a - b, Real100(wide(a) - wide(b)));
    expect_close(a * b, Real100(wide(a) * wide(b)));
    expect_close(a * b.hi, Real100(wide(a) * Real100(b.hi)));
  }
}

TEST(DoubleDouble, ProductOfTwoDoublesIsExact) {
  Rng rng(73);
  for (int i = 0; i < 20000; ++i) {
    const double a = draw(rng).hi, b = draw(rng).hi;
    EXPECT_EQ(wide(two_product(a, b)), Real100(Real100(a) * Real100(b)));
  }
}

TEST(DoubleDouble, RunningStateIsTheExactOneToTheLastBitOfADouble) {
  Rng rng(79);
  const FloatRegime regime{.kd = 16, .vd = 3, .g = -1e-3F, .beta_centre = 0.9F};
  RunningRecurrence running(one_head(regime.kd, regime.vd), {}, any_f32_contract());
  std::vector<exact::Token<Real100>> tokens;
  for (const FloatToken& token : draw_tokens(rng, regime, 300)) {
    running.call({token.inputs()});
    tokens.push_back({{token.q.begin(), token.q.end()},
                      {token.k.begin(), token.k.end()},
                      {token.v.begin(), token.v.end()},
                      Real100(token.g),
                      Real100(token.beta)});
  }
  std::vector<Real100> S(regime.kd * regime.vd, Real100(0));
  exact::token_loop(S, tokens);
  const Bounded state = running.state();
  for (size_t i = 0; i < S.size(); ++i) {
    // Half an ulp of the double, and as little again for an error of 300 2^-100 beside a tie.
    const double error = Real100(abs(Real100(S[i] - state.value[i]))).convert_to<double>();
    EXPECT_LE(error, 0x1.0001p-53 * std::abs(state.value[i])) << i;
  }
}

}  // namespace
}  // namespace gdn
