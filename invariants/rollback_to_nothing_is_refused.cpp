// Claim:   a snapshot that was never taken, or is gone, cannot be rolled back to.
// Why:     reset, unload and import drop the snapshots of their layer, a rollback the later ones,
//          and of more than options.snapshots the oldest goes.
// Bound:   none: NOT_FOUND; all states and the next steps in equal bits.
// Origin:  a rollback past the last snapshot that zeroed the state and reported success.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using A = Argument;
using K = CallKind;

bool applies(const Case& c) { return c.subject == Subject::layer && c.tokens >= 1; }

// A snapshot of layer 0 under the name 0, and what makes it go.
struct Story {
  const char* what;
  std::vector<Call> calls;
};

std::vector<Story> stories(const Case& c) {
  const Call taken = call_of(K::snapshot);
  std::vector<Call> unloaded = {taken, call_of(K::unload_layer)};
  made::append(unloaded, made::load_again(c, 0));
  return {{"never taken", {}},
          {"dropped by a reset", {taken, call_of(K::reset)}},
          {"dropped by a reset of all", {taken, call_of(K::reset, {{A::layer, -1}})}},
          {"of all layers, dropped by a reset of one",
           {call_of(K::snapshot, {{A::layer, -1}}), call_of(K::reset, {{A::layer, 1}})}},
          {"dropped by an unload", unloaded},
          {"dropped by an import", {taken, call_of(K::state_export), call_of(K::state_import)}},
          {"later than the one that was rolled back to",
           {call_of(K::snapshot, {{A::id, 1}}), taken, call_of(K::rollback, {{A::id, 1}})}},
          // The one that is taken now is another one, and not called as that was.
          {"later than the one that was rolled back to, and another taken since",
           {call_of(K::snapshot, {{A::id, 1}}), taken, call_of(K::rollback, {{A::id, 1}}),
            call_of(K::snapshot, {{A::id, 2}})}}};
}

// One snapshot is kept, two are taken: the first is gone and the second is not.
Verdict oldest_goes(const Case& c, const Lab& lab) {
  Verdict closed;
  std::optional<Session> session = lab.open(c, 1, {}, &closed);
  if (!session) return closed;
  std::vector<Call> calls = setup_calls(c);
  made::append(calls, {made::step(0, 0), call_of(K::snapshot), call_of(K::snapshot, {{A::id, 1}}),
                       made::step(0, c.tokens - 1)});
  Verdict all = claim(true, "");
  for (const Call& call : calls) {
    const CallObserved& seen = session->call(call);
    if (!seen.ok()) return refusal(seen.status, seen.text);
  }
  const CallObserved gone = session->call(call_of(K::rollback));
  all = refused(gone, {call_of(K::rollback), GDN_NOT_FOUND, "the oldest of two, one is kept"});
  const CallObserved kept = session->call(call_of(K::rollback, {{A::id, 1}}));
  all = both(std::move(all), claim(kept.ok(),
                                   "rollback to the younger of two, one is kept: "
                                   "expected OK, got " +
                                       kept.text));
  return both(std::move(all), std::move(*session).finish().conduct);
}

Verdict check(const Case& given, const Lab& lab) {
  const Case c = with_layers(given, 2);
  if (!is_served(c, lab, call_of(K::snapshot)) || !is_served(c, lab, call_of(K::rollback)))
    return {};
  const std::vector<Story> all = stories(c);
  Rng rng = Rng{c.seed}.stream("rollback");
  const Story& story = all[static_cast<size_t>(rng.range(0, std::ssize(all) - 1))];
  std::vector<Call> before = setup_calls(c);
  made::append(before, steps_of_all_layers(c, 0));
  made::append(before, story.calls);
  made::append(before, steps_of_all_layers(c, c.tokens - 1));
  const WrongCall wrong{call_of(K::rollback), GDN_NOT_FOUND,
                        std::string("a snapshot ") + story.what};
  return both(oldest_goes(c, lab),
              refused_without_trace(c, lab, before, {wrong}, steps_of_all_layers(c, 0)));
}

const Registered self{{.claim = "what is not held cannot be rolled back to",
                       .applies = applies,
                       .check = check,
                       .kills = {"rollback_to_nothing_zeroes", "rollback_keeps_later_snapshots",
                                 "snapshot_names_given_again"},
                       .one_in = 4}};

}  // namespace
}  // namespace gdn
