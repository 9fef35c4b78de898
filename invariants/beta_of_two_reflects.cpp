// Claim:   with beta 2, no decay, v zero and a key of length 1, the same token twice gives the
// state
//          back.
// Why:     I - 2 k k^T is a reflection: its own inverse. Dialects allow beta up to 2, and the
//          recurrence takes it as it is given.
// Bound:   the reference's for the two tokens, about the first state instead of its own.
// Origin:  beta clamped to 1.
#include <algorithm>
#include <cmath>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) {
  return c.subject == Subject::recurrent && c.tokens >= 1 && c.dialect.state_storage == Format::f32;
}

// The same key of length 1 in every head and token: four entries of 1/2, or one of 1.
std::vector<float> unit_keys(const Case& c, int64_t tokens) {
  const int64_t kd = c.shape.head_k_dim;
  const int64_t entries = kd >= 4 ? 4 : 1;
  const int64_t first = Rng{c.seed}.stream("key").range(0, kd - entries);
  std::vector<float> keys(static_cast<size_t>(tokens * c.shape.k_dim()), 0.0F);
  for (size_t begin = 0; begin < keys.size(); begin += static_cast<size_t>(kd)) {
    for (int64_t i = first; i < first + entries; ++i) {
      keys[begin + static_cast<size_t>(i)] = entries == 4 ? 0.5F : 1.0F;
    }
  }
  return keys;
}

std::vector<float> twice(std::vector<float> numbers, int64_t tokens) {
  if (tokens > 0) numbers.resize(numbers.size() / static_cast<size_t>(tokens));
  const std::vector<float> once = numbers;
  numbers.insert(numbers.end(), once.begin(), once.end());
  return numbers;
}

Verdict check(const Case& given, const Lab& lab) {
  std::string why;
  const std::optional<Case> full = recurrence_in_full(given, 1, &why);
  if (!full) return not_applicable(why);
  Case c = full->with_calls({});
  c.tokens = 2;
  const bool linear = c.dialect.gate_input == Dialect::GateInput::linear_alpha;
  for (const char* name : {"q", "v", "beta", "g", "gk"}) {
    std::vector<float> numbers = twice(array_of(*full, name), 1);
    if (numbers.empty()) continue;
    float value = 0;
    if (name == std::string("beta")) value = 2;
    if (name == std::string("g") && linear) value = 1;
    if (name != std::string("q")) std::fill(numbers.begin(), numbers.end(), value);
    c = c.with_numbers(name, numbers);
  }
  c = c.with_numbers("k", unit_keys(c, 2));
  const std::vector<float> S = array_of(c, "S");
  if (!extent_of(S).finite) return not_applicable("the first state is not finite");
  const Observation seen = lab.run(c);
  if (!seen.served().holds()) return seen.served();
  const Bounded& want = lab.expect(c).calls.front().arrays.at("S");
  std::vector<float> got;
  Bounded first;
  for (size_t i = 0; i < S.size(); ++i) {
    // The reference's own value is a double within a few roundings of the exact one, S.
    const double bound = want.bound_of(i) + std::abs(S[i]) * 0x1p-50;
    const bool known = std::isfinite(want.value[i]) && std::isfinite(bound);
    if (!known) continue;
    got.push_back(seen.calls.front().arrays.at("S")[i]);
    first.value.push_back(S[i]);
    first.bound.push_back(bound);
  }
  if (got.empty()) return not_applicable("no element of S has a finite bound");
  return both(seen.conduct, within("S after the token twice", got, first));
}

const Registered self{{.claim = "with beta 2 a token and the same again leave the state as it was",
                       .applies = applies,
                       .check = check,
                       .kills = {"beta_clamped_to_one"}}};

}  // namespace
}  // namespace gdn
