// Claim:   every call is served or refused as the interface says, and a layer that comes to the
//          same history again has the same S, HIST and out, whatever calls, refusals and failed
//          allocations came between; one that has none is zero.
// Why:     S and HIST after a token follow from the tokens since the layer was last zeroed; a call
//          that is refused, or is about another layer, leaves the history and so the bits.
// Bound:   none: equal hashes of bits, all NaNs one, within one run and without a replay, so that
//          every case can be asked; calls_behave_as_modelled replays one in eight.
// Origin:  faults that show one call later, where only a search of many sequences finds them.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

constexpr int64_t drawn_calls = 24;

bool applies(const Case& c) {
  return c.subject == Subject::layer && (!c.calls.empty() || c.tokens >= 1);
}

Verdict check(const Case& given, const Lab& lab) {
  if (!given.calls.empty()) return agrees_with_itself(given, lab);
  return agrees_with_itself(
      given.with_calls(draw_calls(Rng(given.seed).stream("calls"), given, drawn_calls)), lab);
}

const Registered self{{.claim = "a layer with the same history again has the same state",
                       .applies = applies,
                       .check = check,
                       .kills = {"rollback_keeps_history", "failed_bind_drops_old_binding",
                                 "snapshot_of_one_layer_restores_all",
                                 "pool_keys_sought_as_if_sorted", "unload_drops_every_snapshot"}}};

}  // namespace
}  // namespace gdn
