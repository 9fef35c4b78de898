// Claim:   q and k become x / sqrt(sum x^2 + eps): of length 1 less what eps takes, 0 where x is 0.
// Why:     eps stands under the root beside the sum of squares, not in their mean, not as a floor.
// Bound:   the reference's, around a / sqrt(128 a^2 + eps); lengths by the elements' bounds.
// Origin:  no eps (NaN at 0), max(norm, eps), eps in the mean; at a = 1 all of them look right.
#include <cmath>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

constexpr int64_t dim = 128;
// The lengths are 1.0000, 0.99996, 0.99612, 0.74927 and 0 at eps = 1e-6.
constexpr float sizes[] = {1.0F, 1e-2F, 1e-3F, 1e-4F, 0.0F};
constexpr int64_t size_count = sizeof(sizes) / sizeof(sizes[0]);

bool applies(const Case& c) {
  return c.subject == Subject::qk_norm && c.calls.empty() &&
         c.dialect.qk_norm == Dialect::QkNorm::sum_eps;
}

Verdict equal_elements(const Case& c, const Lab& lab) {
  Shape shape = with_heads(c.shape, size_count, dim, size_count, 1);
  shape.l2norm_eps = 1e-6F;
  Arrays in;
  std::vector<double> k;
  for (const float a : sizes) {
    const double length = std::sqrt(double{dim} * a * a + double{shape.l2norm_eps});
    for (int64_t i = 0; i < dim; ++i) {
      const float sign = i % 3 == 1 ? -1.0F : 1.0F;
      in["k"].push_back(sign * a);
      k.push_back(sign * a / length);
    }
  }
  in["q"] = in["k"];
  const Worked normed = work(lab, worked_case(c, Subject::qk_norm, shape, in));
  return normed.served.holds() ? normed.is("k", k) : normed.served;
}

// No key of the case's own leaves the unit ball: |k + e|^2 <= 1 + 2 sum |k| e + sum e^2.
Verdict lengths(const Case& c, const Lab& lab) {
  const Worked normed = work(lab, c);
  if (!normed.served.holds()) return normed.served;
  const std::vector<float>& k = normed.got.at("k");
  Verdict all = claim(true, "");
  for (int64_t head = 0; head < c.shape.num_k_heads; ++head) {
    double square = 0;
    double slack = 0;
    for (int64_t i = 0; i < c.shape.head_k_dim; ++i) {
      const auto at = static_cast<size_t>(head * c.shape.head_k_dim + i);
      const double e = normed.want.at("k").bound_of(at);
      square += double{k[at]} * k[at];
      slack += e * (2 * std::abs(k[at]) + e);
    }
    if (!std::isfinite(square) || !std::isfinite(slack)) continue;
    all = both(std::move(all),
               claim(square <= (1 + slack) * (1 + 0x1p-30),
                     "k of head " + std::to_string(head) + ": the sum of squares is " +
                         std::to_string(square) + ", expected 1 at most"));
  }
  return all;
}

Verdict check(const Case& c, const Lab& lab) {
  const Verdict table = equal_elements(c, lab);
  return table.holds() ? both(table, lengths(c, lab)) : table;
}

const Registered self{{.claim = "keys are normalised with eps beside the sum of their squares",
                       .applies = applies,
                       .check = check,
                       .kills = {"l2_norm_without_eps", "l2_norm_max_form", "l2_norm_mean_eps",
                                 "keys_not_normalised"}}};

}  // namespace
}  // namespace gdn
