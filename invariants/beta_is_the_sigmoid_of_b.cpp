// Claim:   beta = 1 / (1 + exp(-b)): 1/2 at 0, rising, and beta(b) + beta(-b) = 1; a has no part.
// Why:     beta is a share of the error that is written; it comes from b, the decay from a.
// Bound:   the reference's, around literals; of two answers of the engine, each one's own.
// Origin:  the projections of beta and decay swapped; b used without the sigmoid.
#include <algorithm>
#include <cmath>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

struct Literal {
  float b;
  double sigmoid;
};
// To the last digit of a double.
constexpr Literal literals[] = {{0.0F, 0.5},
                                {1.0F, 0.73105857863000490},
                                {-1.0F, 0.26894142136999510},
                                {2.0F, 0.88079707797788243},
                                {-8.0F, 0.00033535013046647811},
                                {-20.0F, 2.0611536181902037e-09},
                                {30.0F, 0.99999999999990652},
                                {100.0F, 1.0}};

bool applies(const Case& c) {
  return c.subject == Subject::gates && c.calls.empty() &&
         c.dialect.gate_input == Dialect::GateInput::raw_a && c.dialect.beta == Dialect::Beta::f32;
}

Verdict at_literals(const Case& c, const Lab& lab) {
  Arrays in;
  std::vector<double> beta;
  for (const Literal& literal : literals) {
    // In a stands what must not reach beta.
    in["a"].push_back(3 - literal.b);
    in["dt_bias"].push_back(-1);
    in["b"].push_back(literal.b);
    in["A_log"].push_back(0);
    beta.push_back(literal.sigmoid);
  }
  const Shape shape = with_heads(c.shape, 1, 1, static_cast<int64_t>(beta.size()), 1);
  const Worked gates = work(lab, worked_case(c, Subject::gates, shape, in));
  return gates.served.holds() ? gates.is("beta", beta) : gates.served;
}

struct Point {
  float b;
  double beta, bound;
};

// The case's own b and their opposites.
Verdict rises_and_complements(const Case& c, const Lab& lab) {
  std::string why;
  const std::optional<Numbers> numbers = materialise(c, &why);
  if (!numbers) return claim(true, "");
  const std::vector<float>& b = numbers->arrays.at("b");
  std::vector<float> opposite = b;
  for (float& x : opposite) x = -x;
  const Worked plain = work(lab, c);
  if (!plain.served.holds()) return plain.served;
  const Worked turned = work(lab, c.with_numbers("b", opposite));
  if (!turned.served.holds()) return turned.served;
  std::vector<float> sums;
  Bounded ones;
  std::vector<Point> points;
  for (size_t i = 0; i < b.size(); ++i) {
    const double bound = plain.want.at("beta").bound_of(i);
    const double sum_bound = bound + turned.want.at("beta").bound_of(i);
    if (std::isnan(b[i]) || !std::isfinite(sum_bound)) continue;
    const double beta = plain.got.at("beta")[i];
    // What is left over is exact in double; as a float32 it is off by half an ulp of itself.
    const double left_over = beta + turned.got.at("beta")[i] - 1;
    sums.push_back(static_cast<float>(left_over));
    ones.value.push_back(0);
    ones.bound.push_back(sum_bound * (1 + 0x1p-23) + 0x1p-149);
    points.push_back({b[i], beta, bound});
  }
  if (points.empty()) return claim(true, "");
  Verdict all = within("beta(b) + beta(-b) - 1", sums, ones);
  std::sort(points.begin(), points.end(), [](const Point& p, const Point& q) { return p.b < q.b; });
  for (size_t i = 1; i < points.size(); ++i) {
    const Point& low = points[i - 1];
    const Point& high = points[i];
    all =
        both(std::move(all), claim(low.beta <= high.beta + low.bound + high.bound,
                                   "beta falls from " + std::to_string(low.beta) + " at b " +
                                       std::to_string(low.b) + " to " + std::to_string(high.beta) +
                                       " at b " + std::to_string(high.b)));
  }
  return all;
}

Verdict check(const Case& c, const Lab& lab) {
  const Verdict table = at_literals(c, lab);
  return table.holds() ? both(table, rises_and_complements(c, lab)) : table;
}

const Registered self{{.claim = "beta is the sigmoid of b and of nothing else",
                       .applies = applies,
                       .check = check,
                       .kills = {"beta_from_a", "beta_without_sigmoid"}}};

}  // namespace
}  // namespace gdn
