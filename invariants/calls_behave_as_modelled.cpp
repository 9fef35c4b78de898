// Claim:   every call is served or refused as the interface says, and each layer's state is that of
//          its own history, whatever calls, refusals and failed allocations came between.
// Why:     S and HIST after a token follow from the tokens since the layer was last zeroed; nothing
//          else may reach them.
// Bound:   none: equal bits, or NaN in both, with a replay of that history on a fresh engine.
// Origin:  faults that show one call later: stale bindings, snapshots that outlive their layer.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

constexpr int64_t drawn_calls = 24;

bool applies(const Case& c) {
  return c.subject == Subject::layer && (!c.calls.empty() || c.tokens >= 1);
}

Verdict check(const Case& given, const Lab& lab) {
  const Case c =
      given.calls.empty()
          ? given.with_calls(draw_calls(Rng(given.seed).stream("calls"), given, drawn_calls))
          : given;
  Replays replays(lab, c);
  return behaves_as_modelled(c, lab, replays);
}

const Registered self{{.claim = "calls are served, refused and without effect as modelled",
                       .applies = applies,
                       .check = check,
                       .kills = {"stale_binding_after_pool_rebuild", "rollback_keeps_history",
                                 "failed_bind_drops_old_binding",
                                 "snapshot_of_one_layer_restores_all", "import_keeps_snapshots"},
                       .one_in = 8}};

}  // namespace
}  // namespace gdn
