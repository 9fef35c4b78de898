// Claim:   what a layer gives lies within its bound of what its weights and inputs alone determine.
// Why:     every error of an operator is bounded, so that of the layer is; refused calls, resets,
//          rollbacks and other layers' steps leave no trace in it.
// Bound:   the global check: each operator's bound carried through the ones after it.
// Origin:  an engine whose operators are right one by one and that feeds them the wrong state.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::layer; }

Verdict status_as_expected(size_t index, const CallObserved& got, const CallExpectation& want) {
  const std::string where = "call " + std::to_string(index + 1) + ": ";
  if (want.refused) return claim(!got.ok(), where + "it was served, a refusal is right");
  if (got.ok()) return claim(true, "");
  Verdict refused;
  refused.outcome = Outcome::engine_error;
  refused.detail = where + "it was refused: " + got.text;
  return refused;
}

Verdict check(const Case& given, const Lab& lab) {
  const Case c = given.calls.empty() ? given.with_calls(stepped_calls(given)) : given;
  const Observation seen = lab.run(c);
  if (!seen.conduct.holds()) return seen.conduct;
  const Expectation& want = lab.expect(c);
  Verdict all = seen.conduct;
  for (size_t i = 0; i < c.calls.size(); ++i) {
    const CallObserved& call = seen.calls[i];
    // What follows is then another life than the one that was worked out.
    const bool has_failed = want.calls[i].is_huge && call.status == GDN_OUT_OF_MEMORY;
    if (has_failed) return both(std::move(all), claim(true, ""));
    all = both(std::move(all), status_as_expected(i, call, want.calls[i]));
    if (!call.ok() || want.calls[i].refused) continue;
    all = both(std::move(all),
               within("call " + std::to_string(i + 1), call, want.calls[i], c.shape.hidden_size));
  }
  return all;
}

const Registered self{
    {.claim = "a layer is within its bound of what its weights and inputs determine",
     .applies = applies,
     .check = check,
     .kills = {"chunk_decay_by_quotient", "chunk_inverse_by_powers", "layer_offset",
               "rollback_keeps_history", "stale_binding_after_pool_rebuild"},
     .searched_layers_one_in = 8}};

}  // namespace
}  // namespace gdn
