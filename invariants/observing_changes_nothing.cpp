// Claim:   an engine that stores its intermediates gives the outputs and states of one that does
//          not; of one that does not they cannot be read, before a first token or after it.
// Why:     observe only adds stores; the kernels and their order of sums stay the same.
// Bound:   none: equal bits, or NaN in both.
// Origin:  an observed build of a kernel that sums in another order, so that nothing seen is meant.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::layer && c.tokens >= 1; }

Verdict check(const Case& c, const Lab& lab) {
  Rng rng = Rng{c.seed}.stream("observing_changes_nothing");
  const int64_t layer = rng.range(0, c.shape.num_layers - 1);
  const int64_t tokens = rng.range(1, std::min<int64_t>(c.tokens, 2));
  std::vector<Call> calls = setup_calls(c);
  for (int64_t t = 0; t < tokens; ++t) calls.push_back(made::step(layer, t));
  for (const Call& call : {made::run(layer, 0, tokens), made::forward(0, tokens)}) {
    if (lab.why_not(c.with_calls({call})).empty()) calls.push_back(call);
  }
  calls.push_back(made::state(c.shape.num_layers - 1));
  const Case watched = c.with_calls(calls);
  const Observation observed = lab.run(watched, {.observe = true});
  const Observation alone = lab.run(watched, {.observe = false});
  const Verdict same = both(observed.served(), alone.served(), same_bits(observed, alone));
  if (!same.holds()) return same;
  // What was not stored is not there to be read.
  const WrongCall unseen{
      call_of(CallKind::read, {{Argument::layer, layer}, {Argument::tensor, rng.range(0, 12)}}),
      GDN_UNSUPPORTED, "a tensor of an engine that does not observe"};
  // Before its first token as well as after it: that is not what it is refused for.
  const Observation early = lab.run(c.with_calls({unseen.call}), {.observe = false});
  calls.push_back(unseen.call);
  const Observation blind = lab.run(c.with_calls(calls), {.observe = false});
  if (early.calls.empty()) return early.conduct;
  if (blind.calls.empty()) return blind.conduct;
  return both(same, early.conduct, refused(early.calls.back(), unseen), blind.conduct,
              refused(blind.calls.back(), unseen));
}

const Registered self{{.claim = "observing changes nothing",
                       .applies = applies,
                       .check = check,
                       .kills = {"observe_changes_order", "unobserved_tensors_are_zeros"},
                       .one_in = 4}};

}  // namespace
}  // namespace gdn
