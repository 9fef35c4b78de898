// Claim:   with beta 0, 2^n tokens of log decay g leave what one token of 2^n g leaves.
// Why:     exp(g) to the power 2^n is exp(2^n g), and 2^n g is exact in float32.
// Bound:   the two bounds together.
// Origin:  a decay that is held in bf16, or truncated, is right for a token and wrong for many.
#include <algorithm>
#include <cmath>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

constexpr int64_t doublings_max = 6;

bool applies(const Case& c) {
  return c.subject == Subject::recurrent && c.tokens >= 1 &&
         c.dialect.gate_input != Dialect::GateInput::linear_alpha;
}

std::vector<float> repeated(const std::vector<float>& once, int64_t tokens) {
  std::vector<float> numbers;
  for (int64_t t = 0; t < tokens; ++t) numbers.insert(numbers.end(), once.begin(), once.end());
  return numbers;
}

Verdict check(const Case& given, const Lab& lab) {
  std::string why;
  const std::optional<Case> full = recurrence_in_full(given, 1, &why);
  if (!full) return not_applicable(why);
  const int doublings = static_cast<int>(Rng{given.seed}.stream("tokens").range(1, doublings_max));
  const int64_t tokens = int64_t{1} << doublings;
  Case one = full->with_calls({});
  one = one.with_numbers("beta", std::vector<float>(array_of(one, "beta").size(), 0.0F));
  Case many = one;
  many.tokens = tokens;
  for (const char* name : {"q", "k", "v", "beta", "g", "gk"}) {
    const std::vector<float> once = array_of(one, name);
    if (once.empty()) continue;
    many = many.with_numbers(name, repeated(once, tokens));
    if (name[0] != 'g') continue;
    if (!scales(extent_of(once), doublings)) return not_applicable("2^n g is not exact");
    one = one.with_numbers(name, times_power(once, doublings));
  }
  const Observation of_one = lab.run(one);
  const Observation of_many = lab.run(many);
  const Verdict served = both(of_one.served(), of_many.served());
  if (!served.holds()) return served;
  const auto seen = [&](const Observation& run, const Case& c) {
    return Judged{run.calls.front().arrays.at("S"), lab.expect(c).calls.front().arrays.at("S")};
  };
  const Verdict composed =
      agree("S after " + std::to_string(tokens) + " tokens, against one of as much decay",
            seen(of_many, many), {seen(of_one, one)});
  return unless_empty(both(served, composed));
}

const Registered self{{.claim = "a decay over many tokens is that of one token of their sum",
                       .applies = applies,
                       .check = check,
                       .kills = {"decay_held_in_bf16"},
                       .one_in = 2,
                       .searched_others_one_in = 4}};

}  // namespace
}  // namespace gdn
