// Claim:   q times 2^n gives o times 2^n, and leaves every state bit for bit as it was.
// Why:     o = S^T q is linear in q and S never sees q; rounding to nearest commutes with a power
//          of two as long as no product leaves the normal numbers.
// Bound:   none: equal bits; of o where the extents of S and q show that nothing can leave them.
// Origin:  a state that is updated with the query, an offset added to the output.
#include <cmath>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

constexpr int64_t tokens_max = 12;
constexpr int64_t power_max = 20;

bool applies(const Case& c) {
  return c.subject == Subject::delta_rule || (c.subject == Subject::recurrent && c.tokens >= 1);
}

// f16 holds too few binades for q or o to be moved in it; and where a state is rounded as it is
// stored, o comes from one of smaller numbers that nobody sees.
bool has_room(const Case& c) {
  return c.dialect.input_storage != Format::f16 && c.dialect.output_storage != Format::f16 &&
         c.dialect.state_storage == Format::f32;
}

Verdict check(const Case& given, const Lab& lab) {
  std::string why;
  const std::optional<Case> full = recurrence_in_full(given, tokens_max, &why);
  if (!full) return not_applicable(why);
  const std::vector<float> q = array_of(*full, "q");
  const int power = static_cast<int>(Rng{given.seed}.stream("power").range(1, power_max));
  const Observation one = lab.run(*full);
  const Observation other = lab.run(full->with_numbers("q", times_power(q, power)));
  const Verdict served = both(one.served(), other.served());
  if (!served.holds()) return served;
  const int64_t kd = full->shape.head_k_dim;
  const double scale = full->dialect.scale.value_or(1 / std::sqrt(static_cast<float>(kd)));
  // q with its scale, or the output with it, or neither.
  const Extent scaled_q = product(extent_of(q), either(extent_near(scale), extent_near(1)));
  Verdict all = claim(true, "");
  for (size_t t = 0; t < one.calls.size(); ++t) {
    const std::vector<float>& S = one.calls[t].arrays.at("S");
    const std::string of = " of token " + std::to_string(t);
    all = both(std::move(all), same_bits("S" + of, other.calls[t].arrays.at("S"), S));
    const Extent o = sum_of(product(extent_of(S), scaled_q), kd);
    if (!has_room(*full) || !scales(scaled_q, power) || !scales(o, power)) continue;
    all = both(std::move(all), same_bits("o" + of, other.calls[t].arrays.at("o"),
                                         times_power(one.calls[t].arrays.at("o"), power)));
  }
  return all;
}

const Registered self{{.claim = "q times a power of two gives o times it and the same state",
                       .applies = applies,
                       .check = check,
                       .kills = {"output_offset_added", "query_written_into_state"}}};

}  // namespace
}  // namespace gdn
