// Claim:   without decay, with beta 1 and a key of length 1, S^T k is v after the token.
// Why:     S + k (v - S^T k)^T, times k, is v where k^T k = 1; the keys here are exact: one entry
// of
//          +-1, or four of +-1/2.
// Bound:   that of each element of S, times |k|, summed; what the state held before is gone.
// Origin:  beta halved or left out, a write along q, an error taken from another state.
#include <algorithm>
#include <cmath>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::delta_rule; }

// Per k-head a key of length 1, and a query that is another one.
std::vector<float> unit_keys(const Shape& s, Rng rng) {
  std::vector<float> keys(static_cast<size_t>(s.k_dim()), 0.0F);
  for (int64_t head = 0; head < s.num_k_heads; ++head) {
    float* const key = keys.data() + head * s.head_k_dim;
    const int64_t entries = s.head_k_dim >= 4 && rng.range(0, 3) > 0 ? 4 : 1;
    const float size = entries == 4 ? 0.5F : 1.0F;
    for (int64_t placed = 0; placed < entries;) {
      float& at = key[rng.range(0, s.head_k_dim - 1)];
      if (at != 0) continue;
      at = rng.range(0, 1) == 0 ? size : -size;
      ++placed;
    }
  }
  return keys;
}

Verdict check(const Case& given, const Lab& lab) {
  std::string why;
  const std::optional<Case> full = recurrence_in_full(given, 1, &why);
  if (!full) return not_applicable(why);
  const Shape& s = full->shape;
  const Rng rng{given.seed};
  const std::vector<float> k = unit_keys(s, rng.stream("key"));
  Case c = full->with_numbers("k", k)
               .with_numbers("q", unit_keys(s, rng.stream("query")))
               .with_numbers("beta", std::vector<float>(static_cast<size_t>(s.num_v_heads), 1.0F));
  for (const char* name : {"g", "gk"}) {
    const std::vector<float> gates = array_of(*full, name);
    if (!gates.empty()) c = c.with_numbers(name, std::vector<float>(gates.size(), 0.0F));
  }
  const Observation seen = lab.run(c);
  if (!seen.served().holds()) return seen.served();
  const std::vector<float>& S = seen.calls.front().arrays.at("S");
  const Bounded& want_S = lab.expect(c).calls.front().arrays.at("S");
  const std::vector<float> v = array_of(c, "v");
  const bool tiled = c.dialect.head_map == Dialect::HeadMap::tiled;
  std::vector<float> known_v;
  Bounded want;
  for (int64_t i = 0; i < s.v_dim(); ++i) {
    const int64_t head = i / s.head_v_dim;
    const int64_t k_head = tiled ? head % s.num_k_heads : head / s.v_heads_per_k_head();
    double read = 0;
    double bound = 0;
    for (int64_t r = 0; r < s.head_k_dim; ++r) {
      const auto at =
          static_cast<size_t>((head * s.head_k_dim + r) * s.head_v_dim + i % s.head_v_dim);
      const double key = k[static_cast<size_t>(k_head * s.head_k_dim + r)];
      if (key == 0) continue;
      read += S[at] * key;
      // The products are exact in double; at most four are added.
      bound += (want_S.bound_of(at) + std::abs(S[at]) * 0x1p-50) * std::abs(key);
    }
    const float target = v[static_cast<size_t>(i)];
    if (!std::isfinite(target) || !std::isfinite(bound) || !std::isfinite(read)) continue;
    known_v.push_back(target);
    want.value.push_back(read);
    want.bound.push_back(bound);
  }
  if (known_v.empty()) return not_applicable("no column of S has a finite bound");
  return both(seen.conduct, within("v against S^T k", known_v, want));
}

const Registered self{{.claim = "a full write of v along a unit key is read back by that key",
                       .applies = applies,
                       .check = check,
                       .kills = {"beta_halved", "query_written_into_state"}}};

}  // namespace
}  // namespace gdn
