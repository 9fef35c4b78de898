// Claim:   after a rollback a layer goes on as if what followed the snapshot had never been fed.
// Why:     a snapshot holds S and the history of the layers that it names, and nothing else counts.
// Bound:   none: equal bits, or NaN in both.
// Origin:  drafted tokens that are taken back from the state and stay in the conv history.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::layer && c.tokens >= 2; }

// A snapshot before every drafted token, so that any number of them can be accepted.
struct Draft {
  int64_t layer, other;  // other: a second layer, or the same where there is one alone
  int64_t snapped;       // what the snapshots name: `layer`, or -1 for all
  int64_t prefix, depth, accepted;
  int64_t next;  // the token that follows
};

Draft drawn(const Case& c) {
  Rng rng = Rng{c.seed}.stream("rollback_forgets_drafts");
  Draft d = {};
  d.layer = rng.range(0, c.shape.num_layers - 1);
  d.other = (d.layer + 1) % c.shape.num_layers;
  d.snapped = rng.range(0, 1) == 0 ? d.layer : -1;
  d.prefix = rng.range(0, std::min<int64_t>(3, c.tokens - 1));
  d.depth = rng.range(1, 4);
  d.accepted = rng.range(0, d.depth - 1);
  d.next = rng.range(0, c.tokens - 1);
  return d;
}

int64_t drafted(const Case& c, const Draft& d, int64_t i) { return (d.prefix + i) % c.tokens; }

// Once all is fed, a rollback that is refused is a failure like a wrong one.
Verdict can_be_judged(const Observation& seen, size_t fed_count) {
  if (!seen.conduct.holds()) return seen.conduct;
  for (size_t i = 0; i < seen.calls.size(); ++i) {
    const bool is_unserved = seen.calls[i].status == GDN_UNSUPPORTED;
    if (is_unserved || (i < fed_count && !seen.calls[i].ok())) return seen.served();
  }
  return seen.conduct;
}

Verdict check(const Case& c, const Lab& lab) {
  const Draft d = drawn(c);
  std::vector<Call> calls = setup_calls(c);
  if (d.prefix > 0) calls.push_back(made::run(d.layer, 0, d.prefix));
  const std::vector<Call> before = calls;
  calls.push_back(made::step(d.other, 0));
  const size_t other_stepped = calls.size() - 1;
  for (int64_t i = 0; i < d.depth; ++i) {
    calls.push_back(made::snapshot(d.snapped, i));
    calls.push_back(made::step(d.layer, drafted(c, d, i)));
  }
  const bool two_layers = d.other != d.layer;
  if (two_layers) calls.push_back(made::step(d.other, c.tokens - 1));
  const size_t other_drafted = calls.size() - 1;
  calls.push_back(made::rollback(d.layer, d.accepted));
  calls.push_back(made::state(d.other));
  const size_t rolled_back = calls.size() - 2;
  calls.push_back(made::step(d.layer, d.next));
  // A snapshot outlives its rollback: the second one returns to the same place.
  calls.push_back(made::rollback(d.layer, d.accepted));
  calls.push_back(made::step(d.layer, d.next));

  std::vector<Call> never = before;
  if (!two_layers) never.push_back(made::step(d.other, 0));
  for (int64_t i = 0; i < d.accepted; ++i) never.push_back(made::step(d.layer, drafted(c, d, i)));
  never.push_back(made::state(d.layer));
  never.push_back(made::step(d.layer, d.next));
  const Observation seen = lab.run(c.with_calls(calls));
  const Observation want = lab.run(c.with_calls(never));
  Verdict all = both(want.served(), can_be_judged(seen, rolled_back));
  if (!all.holds()) return all;

  const std::string what =
      std::to_string(d.accepted) + " of " + std::to_string(d.depth) + " drafted tokens accepted: ";
  const CallObserved& state = want.calls[never.size() - 2];
  const CallObserved& next = want.calls.back();
  const auto same = [&](const std::string& where, const CallObserved& got,
                        const CallObserved& wanted) {
    all = both(std::move(all), same_bits(what + where, got, wanted));
  };
  same("rollback", seen.calls[rolled_back], state);
  same("the step after", seen.calls[rolled_back + 2], next);
  same("second rollback", seen.calls[rolled_back + 3], state);
  same("the step after the second", seen.calls[rolled_back + 4], next);
  if (!two_layers) return all;
  const size_t left = d.snapped < 0 ? other_stepped : other_drafted;
  return both(std::move(all),
              state_kept(what + "another layer", seen.calls[rolled_back + 1], seen.calls[left]));
}

const Registered self{{.claim = "after a rollback a layer goes on as if it had never drafted",
                       .applies = applies,
                       .check = check,
                       .kills = {"rollback_keeps_history", "rollback_keeps_state"},
                       .one_in = 2}};

}  // namespace
}  // namespace gdn
