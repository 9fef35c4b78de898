// Claim:   a call with a wrong argument leaves states, pool, buffers and snapshots as they were.
// Why:     every argument is checked before anything is touched.
// Bound:   none: all that can be read, and the next right calls, in equal bits.
// Origin:  a null out found after the history had advanced; a bad rollback that had dropped others.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using A = Argument;

bool applies(const Case& c) { return c.subject == Subject::layer && c.tokens >= 1; }

// A handful of all wrong calls, in an order of the case's own.
std::vector<WrongCall> drawn(std::vector<WrongCall> all, Rng rng, size_t count) {
  std::vector<WrongCall> some;
  while (some.size() < count && !all.empty()) {
    const auto at = all.begin() + rng.range(0, static_cast<int64_t>(all.size()) - 1);
    some.push_back(std::move(*at));
    all.erase(at);
  }
  return some;
}

Verdict check(const Case& given, const Lab& lab) {
  const Case c = given.with_calls({});
  std::vector<Call> before = calls_before_wrong_ones(c, lab);
  made::append(before, steps_of_all_layers(c, 0));
  const Call snapshot = call_of(CallKind::snapshot, {{A::layer, -1}});
  const Call rollback = call_of(CallKind::rollback);
  const bool remembers = is_served(c, lab, snapshot) && is_served(c, lab, rollback);
  if (remembers) before.push_back(snapshot);
  made::append(before, steps_of_all_layers(c, 0));

  std::vector<Call> after = steps_of_all_layers(c, c.tokens - 1);
  made::append(after, pool_reads(c));
  const Call buffer = call_of(CallKind::buffer_read, {{A::bytes, 64}});
  if (is_served(c, lab, buffer)) after.push_back(buffer);
  if (remembers) after.push_back(rollback);
  made::append(after, state_reads(c));
  made::append(after, steps_of_all_layers(c, c.tokens - 1));
  const Rng rng = Rng{c.seed}.stream("wrong calls");
  return refused_without_trace(c, lab, before, drawn(wrong_calls(c, lab), rng, 8), after);
}

const Registered self{{.claim = "a refused call changes nothing",
                       .applies = applies,
                       .check = check,
                       .kills = {"refused_step_advances_history", "layers_of_32_bits"},
                       .one_in = 4}};

}  // namespace
}  // namespace gdn
