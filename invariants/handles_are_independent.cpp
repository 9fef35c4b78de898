// Claim:   two open engines give what each gives alone, whatever is called on the other between.
// Why:     a handle owns all of its state; nothing that changes lies in static memory.
// Bound:   none: equal bits, or NaN in both.
// Origin:  a scratch array or a history that all handles of a process share.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject != Subject::layer || c.tokens >= 1; }

// A stream on one layer, from token `first` on, so that the two handles hold different states.
Case streaming(const Case& c, int64_t first) {
  if (c.subject != Subject::layer) return c;
  const int64_t tokens = std::min<int64_t>(c.tokens, 2);
  std::vector<Call> calls = setup_calls(c);
  for (int64_t t = 0; t < tokens; ++t) calls.push_back(made::step(0, (first + t) % c.tokens));
  if (c.shape.num_layers > 1) calls.push_back(made::state(1));
  return c.with_calls(calls);
}

Verdict check(const Case& c, const Lab& lab) {
  const Case one = streaming(c, 0);
  Case two = streaming(c, 1);
  // Other numbers, where the case draws them.
  ++two.seed;
  const Observation one_alone = lab.run(one);
  const Observation two_alone = lab.run(two);
  const auto [first, second] = lab.run_interleaved(one, two);
  Verdict all = both(answered(one, one_alone), answered(two, two_alone));
  if (!all.holds()) return all;
  all = both(std::move(all), first.conduct, second.conduct);
  return both(std::move(all), same_bits(first, one_alone), same_bits(second, two_alone));
}

const Registered self{{.claim = "two open engines give what each gives alone",
                       .applies = applies,
                       .check = check,
                       .kills = {"state_shared_between_handles"},
                       .one_in = 4}};

}  // namespace
}  // namespace gdn
