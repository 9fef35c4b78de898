// Claim:   with q and k exchanged, the results are exchanged but for the scale of q.
// Why:     both are divided by a norm of the same form with the same eps; the scale comes after.
// Bound:   the two bounds together, and one rounding for the scale.
// Origin:  one of them not normed, its eps or its heads taken from elsewhere, a scale applied
// twice.
#include <cmath>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::qk_norm; }

double scale_of(const Case& c) {
  if (c.dialect.scale_on != Dialect::ScaleOn::q) return 1;
  const double root = std::sqrt(static_cast<double>(c.shape.head_k_dim));
  return c.dialect.scale ? *c.dialect.scale : 1 / root;
}

// `plain`, the result for k, is what q must be once scaled.
Verdict scaled_agree(const char* what, std::span<const float> scaled_got, const Bounded& scaled,
                     std::span<const float> plain_got, const Bounded& plain, double scale) {
  std::vector<float> got;
  Bounded want;
  for (size_t i = 0; i < scaled_got.size(); ++i) {
    const double value = plain_got[i] * scale;
    const double bound = scaled.bound_of(i) + plain.bound_of(i) * std::abs(scale) +
                         std::abs(value) * unit_roundoff + underflow_unit;
    const bool known = scaled.tolerated.empty() && plain.tolerated.empty() &&
                       std::isfinite(scaled.value[i]) && std::isfinite(plain.value[i]) &&
                       std::isfinite(value) && std::isfinite(bound);
    if (!known) continue;
    got.push_back(scaled_got[i]);
    want.value.push_back(value);
    want.bound.push_back(bound);
  }
  if (got.empty()) return not_applicable(std::string(what) + ": no element is a known number");
  return within(what, got, want);
}

Verdict check(const Case& given, const Lab& lab) {
  const Case c = given.with_calls({});
  std::string why;
  const std::optional<Numbers> numbers = materialise(c, &why);
  if (!numbers) return not_applicable(why);
  const Case swapped =
      c.with_numbers("q", numbers->arrays.at("k")).with_numbers("k", numbers->arrays.at("q"));
  const Observation one = lab.run(c);
  const Observation two = lab.run(swapped);
  const Verdict served = both(one.served(), two.served());
  if (!served.holds()) return served;
  const auto& got = one.calls.front().arrays;
  const auto& got_swapped = two.calls.front().arrays;
  const std::map<std::string, Bounded> want = lab.expect(c).calls.front().arrays;
  const std::map<std::string, Bounded> want_swapped = lab.expect(swapped).calls.front().arrays;
  const Verdict k_as_q = scaled_agree("k in the place of q", got_swapped.at("q"),
                                      want_swapped.at("q"), got.at("k"), want.at("k"), scale_of(c));
  const Verdict q_as_k = scaled_agree("q, against q in the place of k", got.at("q"), want.at("q"),
                                      got_swapped.at("k"), want_swapped.at("k"), scale_of(c));
  Verdict all = served;
  for (const Verdict& v : {k_as_q, q_as_k}) {
    if (v.outcome != Outcome::not_applicable) all = both(std::move(all), v);
  }
  const bool judged = k_as_q.elements + q_as_k.elements > 0;
  return judged ? all : k_as_q;
}

const Registered self{{.claim = "q and k are normed alike",
                       .applies = applies,
                       .check = check,
                       .kills = {"q_scale_twice", "query_not_normalised"}}};

}  // namespace
}  // namespace gdn
