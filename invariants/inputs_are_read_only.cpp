// Claim:   an engine writes into nothing that it is given to read, and keeps no pointer to it.
// Why:     weights, tokens, tiles and states belong to the caller, who changes them after the call.
// Bound:   none: every array is compared with a copy, and overwritten once a load has returned.
// Origin:  a buffer that is rounded, or normalised, in place.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject != Subject::layer || c.tokens >= 1; }

// Every call that takes an array of the caller's, where the engine has it.
std::vector<Call> calls_that_read(const Case& c, const Lab& lab) {
  Rng rng = Rng{c.seed}.stream("inputs_are_read_only");
  const int64_t layer = rng.range(0, c.shape.num_layers - 1);
  const int64_t tokens = std::min<int64_t>(c.tokens, 3);
  std::vector<Call> calls = setup_calls(c);
  const auto where_served = [&](std::vector<Call> more) {
    if (lab.why_not(c.with_calls(more)).empty()) made::append(calls, more);
  };
  calls.push_back(made::step(layer, 0));
  where_served({made::run(layer, 0, tokens)});
  where_served({made::forward(0, tokens)});
  where_served({made::state_export(layer, 0), made::state_import(layer, 0)});
  calls.push_back(made::step(layer, c.tokens - 1));
  return calls;
}

Verdict check(const Case& c, const Lab& lab) {
  const bool has_layers = c.subject == Subject::layer;
  const Case called = has_layers ? c.with_calls(calls_that_read(c, lab)) : c;
  const Verdict served = answered(called, lab.run(called));
  // The Lab compares every array after its call: what it saw is the conduct.
  return served.holds() ? both(served, claim(true, "")) : served;
}

const Registered self{{.claim = "an engine writes into nothing that it is given to read",
                       .applies = applies,
                       .check = check,
                       .kills = {"writes_into_h"},
                       .one_in = 4}};

}  // namespace
}  // namespace gdn
