// Claim:   v and the first state times 2^n give o and S times 2^n, bit for bit.
// Why:     the recurrence is linear in (S, v), in any order of its sums, chunks or tokens; rounding
//          to nearest commutes with a power of two as long as nothing leaves the normal numbers.
// Bound:   none: equal bits, wherever the extents of the inputs show that nothing can leave them.
// Origin:  a state that is clamped, a flush far above the subnormals.
#include <algorithm>
#include <cmath>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

constexpr int64_t tokens_max = 12;
// Where the largest of S and v is put: half-way up, so that products have room below.
constexpr int base_exponent = 50;
constexpr int64_t power_max = 30;

// A store to f16 leaves no room for a guard: its normal numbers span 30 binades.
bool applies(const Case& c) {
  const bool narrow = c.dialect.state_storage == Format::f16 ||
                      c.dialect.input_storage == Format::f16 ||
                      c.dialect.output_storage == Format::f16;
  if (narrow) return false;
  return c.subject == Subject::delta_rule || (c.subject == Subject::recurrent && c.tokens >= 1);
}

Case scaled(const Case& c, int power) {
  return c.with_numbers("v", times_power(array_of(c, "v"), power))
      .with_numbers("S", times_power(array_of(c, "S"), power));
}

std::vector<float> of_token(const Case& c, const std::string& name, size_t token) {
  const std::vector<float> all = array_of(c, name);
  if (c.subject != Subject::recurrent) return all;
  const size_t count = all.size() / static_cast<size_t>(c.tokens);
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(token * count);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

// What S is multiplied by: the engine's own exponentials, or linear gates as they are.
Extent decays(const Case& c, size_t token) {
  const bool linear =
      c.subject == Subject::recurrent && c.dialect.gate_input == Dialect::GateInput::linear_alpha;
  Extent all = extent_near(1);
  for (const char* name : {"g", "gk"}) {
    const std::vector<float> gates = of_token(c, name, token);
    Extent factors = extent_near(1);
    if (linear && name == std::string("g")) factors = either(factors, extent_of(gates));
    for (const float gate : gates) factors = either(factors, extent_near(std::exp(double{gate})));
    all = product(all, factors);
  }
  return all;
}

// Everything that one token can compute from S, by the formula in either order of decay.
bool token_scales(const Case& c, size_t token, const Extent& S_before, const Extent& S_after,
                  int power) {
  const int64_t kd = c.shape.head_k_dim;
  const Extent k = extent_of(of_token(c, "k", token));
  const Extent decayed = product(S_before, decays(c, token));
  const Extent u = sum_of(product(decayed, k), kd);
  const Extent error = sum(extent_of(of_token(c, "v", token)), u);
  const Extent d = product(error, extent_of(of_token(c, "beta", token)));
  const Extent next = sum(decayed, product(d, k));
  const double scale = c.dialect.scale.value_or(1 / std::sqrt(static_cast<float>(kd)));
  const Extent q =
      product(extent_of(of_token(c, "q", token)), either(extent_near(scale), extent_near(1)));
  // A state that is rounded as it is stored gives o before that.
  const Extent read = c.dialect.state_storage == Format::f32 ? S_after : next;
  const Extent o = sum_of(product(read, q), kd);
  for (const Extent& extent : {S_before, decayed, u, error, d, next, S_after, o}) {
    if (!scales(extent, power)) return false;
  }
  return q.finite && k.finite;
}

Verdict check(const Case& given, const Lab& lab) {
  std::string why;
  const std::optional<Case> full = recurrence_in_full(given, tokens_max, &why);
  if (!full) return not_applicable(why);
  const Extent extent = either(extent_of(array_of(*full, "v")), extent_of(array_of(*full, "S")));
  if (extent.zero || !extent.finite) return not_applicable("v and S have nothing to scale");
  const Case low = scaled(*full, base_exponent - extent.highest);
  const int power = static_cast<int>(Rng{given.seed}.stream("power").range(1, power_max));
  const Case high = scaled(low, power);
  const Observation one = lab.run(low);
  const Observation other = lab.run(high);
  const Verdict served = both(one.served(), other.served());
  if (!served.holds()) return served;
  Verdict all = not_applicable("products of these numbers may leave the normal range");
  Extent S_before = extent_of(array_of(low, "S"));
  for (size_t t = 0; t < one.calls.size(); ++t) {
    const std::vector<float>& S = one.calls[t].arrays.at("S");
    const std::vector<float>& o = one.calls[t].arrays.at("o");
    const Extent S_after = extent_of(S);
    // What follows a token that may have left the range starts from a state that may differ.
    if (!token_scales(low, t, S_before, S_after, power)) return all;
    const std::string of = " of token " + std::to_string(t);
    const Verdict here =
        both(same_bits("S" + of, other.calls[t].arrays.at("S"), times_power(S, power)),
             same_bits("o" + of, other.calls[t].arrays.at("o"), times_power(o, power)));
    all = t == 0 ? here : both(std::move(all), here);
    S_before = S_after;
  }
  return all;
}

const Registered self{{.claim = "v and S times a power of two give o and S times it",
                       .applies = applies,
                       .check = check,
                       .kills = {"state_saturates_at_one"},
                       .searched_others_one_in = 8}};

}  // namespace
}  // namespace gdn
