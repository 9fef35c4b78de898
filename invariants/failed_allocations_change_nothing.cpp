// Claim:   a call whose allocation fails is refused and changes nothing: it can be made again.
// Why:     what a call needs is allocated before anything changes.
// Bound:   none: states as before the call, and all that follows in the bits of an undisturbed run.
// Origin:  a load that failed half way and left a layer with some of its weights.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::layer && c.tokens >= 1; }

constexpr int snapshots_max = 2;

std::string call_named(size_t index, const Call& call) {
  return "call " + std::to_string(index + 1) + ", " + std::string(name_of(call.kind));
}

std::vector<CallObserved> made_of(Session& session, const std::vector<Call>& calls) {
  std::vector<CallObserved> seen;
  for (const Call& call : calls) seen.push_back(session.call(call));
  return seen;
}

// All calls, the n-th allocation of the call at `index` refused, and that call made once more.
Verdict disturbed(const Case& c, const Lab& lab, const std::vector<Call>& calls,
                  const std::vector<CallObserved>& want, size_t index, uint64_t nth) {
  const std::vector<Call> states = state_reads(c);
  RunOptions options;
  options.refuse = RefusedAllocation{index + states.size(), nth};
  Verdict all;
  std::optional<Session> session = lab.open(c, snapshots_max, options, &all);
  if (!session) return all;
  all = claim(true, "");
  for (size_t i = 0; i < calls.size(); ++i) {
    CallObserved got;
    if (i == index) {
      const std::vector<CallObserved> before = made_of(*session, states);
      got = session->call(calls[i]);
      // An engine may do without what it was refused.
      if (!got.ok()) {
        const std::string where = call_named(i, calls[i]) + ", whose allocation " +
                                  std::to_string(nth) + " was refused: ";
        all = both(std::move(all), claim(!got.text.empty(), where + "expected words, got none"));
        const std::vector<CallObserved> after = made_of(*session, states);
        for (size_t s = 0; s < states.size(); ++s) {
          all =
              both(std::move(all), same_bits(where + "state " + std::to_string(s / 2) + " after it",
                                             after[s], before[s]));
        }
        got = session->call(calls[i]);
      }
    } else {
      got = session->call(calls[i]);
    }
    Verdict same = same_bits(call_named(i, calls[i]), got, want[i]);
    if (same.outcome == Outcome::fails) {
      same.detail += ", allocation " + std::to_string(nth) + " of " +
                     call_named(index, calls[index]) + " had been refused";
    }
    all = both(std::move(all), std::move(same));
  }
  const Observation end = std::move(*session).finish();
  return both(std::move(all), end.conduct,
              claim(end.held_after_close == 0,
                    call_named(index, calls[index]) + ": what a refused allocation left is held"));
}

Verdict check(const Case& given, const Lab& lab) {
  if (!lab.has_gate()) return {};
  const Case c = with_layers(given, 2);
  const std::vector<Call> calls = calls_that_hold_memory(c, lab);
  Verdict closed;
  std::optional<Session> session = lab.open(c, snapshots_max, {}, &closed);
  if (!session) return closed;
  const std::vector<CallObserved> want = made_of(*session, calls);
  Observation end = std::move(*session).finish();
  if (!end.served().holds()) return end.served();
  std::vector<size_t> allocating;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (want[i].allocations > 0) allocating.push_back(i);
  }
  Verdict all = end.conduct;
  Rng rng = Rng{c.seed}.stream("refused allocation");
  for (int draw = 0; draw < 2 && !allocating.empty(); ++draw) {
    const auto at = allocating.begin() + rng.range(0, static_cast<int64_t>(allocating.size()) - 1);
    const auto nth = rng.range(1, static_cast<int64_t>(want[*at].allocations));
    all = both(std::move(all), disturbed(c, lab, calls, want, *at, static_cast<uint64_t>(nth)));
    allocating.erase(at);
  }
  // What never asks cannot be refused.
  return all.elements > 0 ? all : Verdict{};
}

const Registered self{{.claim = "a call whose allocation fails changes nothing",
                       .applies = applies,
                       .check = check,
                       .kills = {"failed_load_leaves_layer_loaded", "failed_snapshot_drops_oldest"},
                       .one_in = 8}};

}  // namespace
}  // namespace gdn
