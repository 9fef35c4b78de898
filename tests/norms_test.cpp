// qk_norm and gated_norm: the forms of dialects, special values, and attacks on the bounds.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "invariants/harness/verdict.h"
#include "reference/operators.h"
#include "tests/float_engine.h"

namespace gdn {
namespace {

const float nan_f = std::numeric_limits<float>::quiet_NaN();

Shape one_head(size_t head_dim, float eps = 1e-6F) {
  Shape shape;
  shape.num_k_heads = shape.num_v_heads = 1;
  shape.head_k_dim = shape.head_v_dim = static_cast<int64_t>(head_dim);
  shape.l2norm_eps = shape.rms_norm_eps = eps;
  return shape;
}

NormedQk norm_of(const std::vector<float>& x, const Dialect& dialect = {}, float eps = 1e-6F,
                 const Contract& contract = any_f32_contract()) {
  return qk_norm(exactly(x), exactly(x), one_head(x.size(), eps), dialect, contract);
}

double length_of(const Bounded& x) {
  double sum = 0;
  for (double element : x.value) sum += element * element;
  return std::sqrt(sum);
}

Outcome outcome_of(const std::vector<float>& got, const Bounded& want) {
  return within("got", got, want).outcome;
}

// 128 elements 0.01: sum 0.0128; 0.0128 / (0.0128 + 128e-6) = 1 / 1.01, its root 0.995037.
TEST(QkNorm, FormsOfDialectsDiffer) {
  Dialect dialect;
  const std::vector<float> x(128, 1e-2F);
  dialect.qk_norm = Dialect::QkNorm::mean_eps;
  EXPECT_NEAR(length_of(norm_of(x, dialect).k), 0.995037, 5e-7);
  dialect.qk_norm = Dialect::QkNorm::max_norm;
  EXPECT_NEAR(length_of(norm_of(x, dialect).k), 1, 1e-12);
  dialect.qk_norm = Dialect::QkNorm::none;
  EXPECT_EQ(norm_of(x, dialect).k.value[0], double{1e-2F});
}

// Below eps the max form divides by eps: 128 elements 1e-8 of length 1.131371e-7.
TEST(QkNorm, TheMaxFormDividesByEpsBelowIt) {
  Dialect dialect;
  dialect.qk_norm = Dialect::QkNorm::max_norm;
  EXPECT_NEAR(length_of(norm_of(std::vector<float>(128, 1e-8F), dialect).k), 0.1131371, 1e-7);
}

TEST(QkNorm, TheScaleGoesWhereTheDialectSays) {
  Dialect dialect;
  const std::vector<float> x(4, 1);
  EXPECT_NEAR(norm_of(x).q.value[0], 0.25, 1e-6) << "1/2 of the norm, 1/2 of the scale";
  EXPECT_NEAR(norm_of(x).k.value[0], 0.5, 1e-6);
  dialect.scale = 3.0F;
  EXPECT_NEAR(norm_of(x, dialect).q.value[0], 1.5, 1e-6);
  dialect.scale_on = Dialect::ScaleOn::output;
  EXPECT_NEAR(norm_of(x, dialect).q.value[0], 0.5, 1e-6);
  dialect.scale_on = Dialect::ScaleOn::none;
  EXPECT_NEAR(norm_of(x, dialect).q.value[0], 0.5, 1e-6);
}

TEST(QkNorm, NanAndInfinitiesStayInTheirHead) {
  Shape shape = one_head(2);
  shape.num_k_heads = 3;
  const std::vector<float> x = {nan_f, 1, HUGE_VALF, 1, 3, 4};
  const Bounded k = qk_norm(exactly(x), exactly(x), shape, Dialect{}, any_f32_contract()).k;
  EXPECT_EQ(outcome_of({nan_f, nan_f, nan_f, 0, 0.6F, 0.8F}, k), Outcome::holds);
  EXPECT_EQ(outcome_of({nan_f, 0, nan_f, 0, 0.6F, 0.8F}, k), Outcome::fails);
  EXPECT_EQ(outcome_of({nan_f, nan_f, 1, 0, 0.6F, 0.8F}, k), Outcome::fails);
}

TEST(QkNorm, AZeroHeadIsZeroWithEpsAndNanWithout) {
  EXPECT_EQ(outcome_of({0, 0}, norm_of({0, 0}).k), Outcome::holds);
  EXPECT_EQ(outcome_of({nan_f, nan_f}, norm_of({0, 0}).k), Outcome::fails);
  EXPECT_EQ(outcome_of({nan_f, nan_f}, norm_of({0, 0}, {}, 0).k), Outcome::holds);
}

// 3e19 squared is above the largest float32, 3.4e38: the plain form divides by infinity.
TEST(QkNorm, AZeroIsToleratedWhereTheSquaresOverflow) {
  const Bounded k = norm_of({3e19F, 4e19F}).k;
  EXPECT_EQ(outcome_of({0.6F, 0.8F}, k), Outcome::holds);
  EXPECT_EQ(outcome_of({0, 0}, k), Outcome::undecided);
  EXPECT_EQ(outcome_of({0.5F, 0.8F}, k), Outcome::fails);
}

// Squares below 2^-149 vanish in float32, which without eps leaves nothing to divide by.
TEST(QkNorm, WithoutEpsTinyHeadsAreUndecided) {
  const std::vector<float> tiny = {0x1p-80F, 0x1p-80F};
  EXPECT_EQ(outcome_of({HUGE_VALF, HUGE_VALF}, norm_of(tiny, {}, 0).k), Outcome::undecided);
  EXPECT_EQ(outcome_of({0x1p-80F * 1000, 0x1p-80F * 1000}, norm_of(tiny).k), Outcome::holds);
}

std::vector<float> head_of(FloatEngine& engine) {
  const size_t sizes[] = {1, 2, 3, 7, 32, 128};
  const size_t n = sizes[engine.rng().range(0, 5)];
  const int low = static_cast<int>(engine.rng().range(-90, 50));
  std::vector<float> x;
  for (size_t i = 0; i < n; ++i) x.push_back(engine.number(low, low + 3));
  return x;
}

struct Normed {
  std::vector<float> q, k;
};

// The float32 program of the sum and max forms.
Normed run_norm(FloatEngine& engine, const Contract& contract, const Dialect& dialect,
                const std::vector<float>& x, float eps) {
  const float sum = engine.sum_of_products(x, x, contract.qk_norm);
  const float kd = static_cast<float>(x.size());
  const bool computed = contract.q_scale == QScaleForm::reciprocal_of_sqrt ||
                        (contract.q_scale == QScaleForm::any && engine.rng().range(0, 1) == 0);
  const float constant = static_cast<float>(1 / std::sqrt(static_cast<double>(kd)));
  const float scale = computed ? engine.divide(1, engine.sqrt(kd)) : constant;
  const bool max_form = dialect.qk_norm == Dialect::QkNorm::max_norm;
  Normed normed;
  for (float element : x) {
    float k = 0;
    if (max_form) {
      k = engine.divide(element, std::fmax(engine.sqrt(sum), eps));
    } else {
      k = engine.over_root(element, engine.add(sum, eps), contract.qk_norm_form);
    }
    normed.k.push_back(k);
    normed.q.push_back(engine.multiply(k, scale));
  }
  return normed;
}

TEST(QkNorm, NoFloat32EngineLeavesTheBound) {
  double worst = 0;
  for (const Contract& contract : attacked_contracts()) {
    FloatEngine engine(contract, 1);
    for (int i = 0; i < 2000; ++i) {
      Dialect dialect;
      const bool divides = contract.qk_norm_form == NormForm::divide_by_sqrt ||
                           contract.qk_norm_form == NormForm::any;
      if (divides && i % 3 == 0) dialect.qk_norm = Dialect::QkNorm::max_norm;
      const std::vector<float> x = head_of(engine);
      const Normed got = run_norm(engine, contract, dialect, x, 1e-6F);
      const NormedQk want = norm_of(x, dialect, 1e-6F, contract);
      const Verdict verdict = both(within("q", got.q, want.q), within("k", got.k, want.k));
      ASSERT_TRUE(verdict.holds()) << verdict.detail << " n " << x.size() << " x " << x[0];
      if (std::isnormal(got.k[0])) worst = std::max(worst, verdict.worst_ratio);
    }
  }
  RecordProperty("worst_ratio", std::to_string(worst));
  std::cout << "worst error/bound of qk_norm: " << worst << "\n";
  EXPECT_GT(worst, 0.3) << "a bound that nothing comes near judges nothing";
}

// x as an earlier operator left it: values, bounds, and what an engine holds.
struct Carried {
  std::vector<double> value, bound;
  std::vector<float> own;
  Bounded bounded() const { return known_to_within(value, bound); }
};

Carried carried_around(FloatEngine& engine, const std::vector<float>& x) {
  Carried carried;
  for (float element : x) {
    carried.value.push_back(element);
    carried.bound.push_back(std::fabs(element * engine.number(-24, 0)));
    carried.own.push_back(engine.near(element, carried.bound.back()));
  }
  return carried;
}

TEST(QkNorm, WhatTheInputsCarryIsInTheBound) {
  double worst = 0;
  for (const Contract& contract : attacked_contracts()) {
    FloatEngine engine(contract, 2);
    for (int i = 0; i < 1500; ++i) {
      const Carried x = carried_around(engine, head_of(engine));
      const Normed got = run_norm(engine, contract, {}, x.own, 1e-6F);
      const NormedQk want = qk_norm(x.bounded(), x.bounded(), one_head(x.own.size()), {}, contract);
      const Verdict verdict = both(within("q", got.q, want.q), within("k", got.k, want.k));
      ASSERT_NE(verdict.outcome, Outcome::fails) << verdict.detail;
      worst = std::max(worst, verdict.worst_ratio);
    }
  }
  std::cout << "worst error/bound of qk_norm with carried inputs: " << worst << "\n";
  EXPECT_GT(worst, 0.3);
}

// mean(9, 16) = 12.5 with root 3.5355339; silu(50) = 50 to 21 digits.
TEST(GatedNorm, NormalisesByTheMeanThenWeighsThenGates) {
  const Bounded n = gated_norm(exactly({3, 4}), exactly({50, 50}), std::vector<float>{1, 2},
                               one_head(2, 0), any_f32_contract());
  EXPECT_NEAR(n.value[0], 42.42640687119285, 1e-12);
  EXPECT_NEAR(n.value[1], 113.13708498984760, 1e-12);
  const Bounded closed = gated_norm(exactly({3, 4}), exactly({0, 1}), std::vector<float>{1, 1},
                                    one_head(2, 0), any_f32_contract());
  EXPECT_EQ(closed.value[0], 0);
  EXPECT_NEAR(closed.value[1], 1.1313708498984760 * 0.7310585786300049, 1e-14);
}

TEST(GatedNorm, NanAndInfinitiesHaveAStatedResult) {
  const auto gated = [](std::vector<float> o, std::vector<float> z, std::vector<float> w) {
    return gated_norm(exactly(o), exactly(z), w, one_head(2), any_f32_contract());
  };
  EXPECT_EQ(outcome_of({nan_f, nan_f}, gated({nan_f, 1}, {1, 1}, {1, 1})), Outcome::holds);
  EXPECT_EQ(outcome_of({nan_f, 0}, gated({HUGE_VALF, 1}, {1, 1}, {1, 1})), Outcome::holds);
  EXPECT_EQ(outcome_of({HUGE_VALF, nan_f}, gated({1, 0}, {HUGE_VALF, HUGE_VALF}, {1, 1})),
            Outcome::holds);
  EXPECT_EQ(outcome_of({nan_f, nan_f}, gated({1, 1}, {nan_f, -HUGE_VALF}, {1, 1})), Outcome::holds);
  EXPECT_EQ(outcome_of({-HUGE_VALF, nan_f}, gated({-1, 1}, {1, 0}, {HUGE_VALF, HUGE_VALF})),
            Outcome::holds);
  EXPECT_EQ(outcome_of({0, 0}, gated({1, 1}, {nan_f, nan_f}, {1, 1})), Outcome::fails);
  EXPECT_EQ(outcome_of({nan_f, nan_f},
                       gated_norm(exactly({0, 0}), exactly({1, 1}), std::vector<float>{1, 1},
                                  one_head(2, 0), any_f32_contract())),
            Outcome::holds)
      << "0 / 0";
}

// The float32 program; the three products in one of two orders.
std::vector<float> run_gated(FloatEngine& engine, const Contract& contract,
                             const std::vector<float>& o, const std::vector<float>& z,
                             const std::vector<float>& w, float eps) {
  const float sum = engine.sum_of_products(o, o, contract.gated_norm);
  const float vd = static_cast<float>(o.size());
  const bool divides = contract.mean == MeanForm::divide ||
                       (contract.mean == MeanForm::any && engine.rng().range(0, 1) == 0);
  const float mean = divides ? engine.divide(sum, vd) : engine.multiply(sum, 1 / vd);
  std::vector<float> result;
  for (size_t j = 0; j < o.size(); ++j) {
    const float n = engine.over_root(o[j], engine.add(mean, eps), contract.gated_norm_form);
    const float gate = engine.sigmoid_in_form(z[j], true, contract.silu);
    result.push_back(engine.rng().range(0, 1) == 0
                         ? engine.multiply(engine.multiply(n, w[j]), gate)
                         : engine.multiply(n, engine.multiply(w[j], gate)));
  }
  return result;
}

TEST(GatedNorm, NoFloat32EngineLeavesTheBound) {
  double worst = 0;
  for (const Contract& contract : attacked_contracts()) {
    FloatEngine engine(contract, 3);
    for (int i = 0; i < 1000; ++i) {
      const std::vector<float> o = head_of(engine);
      std::vector<float> z, w;
      for (size_t j = 0; j < o.size(); ++j) {
        z.push_back(engine.rng().range(0, 1) == 0 ? engine.rng().signed_unit() * 100
                                                  : engine.number(-60, 5));
        w.push_back(engine.number(-30, 3));
      }
      const std::vector<float> got = run_gated(engine, contract, o, z, w, 1e-6F);
      const Bounded want = gated_norm(exactly(o), exactly(z), w, one_head(o.size()), contract);
      const Verdict verdict = within("onorm", got, want);
      ASSERT_TRUE(verdict.holds()) << verdict.detail << " n " << o.size() << " o " << o[0];
      if (std::isnormal(got[verdict.worst_index])) worst = std::max(worst, verdict.worst_ratio);
    }
  }
  RecordProperty("worst_ratio", std::to_string(worst));
  std::cout << "worst error/bound of gated_norm: " << worst << "\n";
  EXPECT_GT(worst, 0.3) << "a bound that nothing comes near judges nothing";
}

TEST(GatedNorm, WhatTheInputsCarryIsInTheBound) {
  double worst = 0;
  for (const Contract& contract : attacked_contracts()) {
    FloatEngine engine(contract, 4);
    for (int i = 0; i < 600; ++i) {
      const Carried o = carried_around(engine, head_of(engine));
      std::vector<float> about(o.own.size()), w(o.own.size());
      for (float& z : about) z = engine.rng().signed_unit() * 95;
      for (float& weight : w) weight = engine.number(-3, 1);
      const Carried z = carried_around(engine, about);
      const std::vector<float> got = run_gated(engine, contract, o.own, z.own, w, 1e-6F);
      const Bounded want =
          gated_norm(o.bounded(), z.bounded(), w, one_head(o.own.size()), contract);
      const Verdict verdict = within("onorm", got, want);
      ASSERT_NE(verdict.outcome, Outcome::fails) << verdict.detail;
      worst = std::max(worst, verdict.worst_ratio);
    }
  }
  std::cout << "worst error/bound of gated_norm with carried inputs: " << worst << "\n";
  EXPECT_GT(worst, 0.3);
}

}  // namespace
}  // namespace gdn
