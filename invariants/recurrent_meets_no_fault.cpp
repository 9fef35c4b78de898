// Claim:   a right call of recurrent meets no fault of the engine's own.
// Why:     an engine that watches its own memory and queues says GDN_INTERNAL where two accesses
//          are not ordered or work was abandoned: the numbers may be right by luck.
// Bound:   none: the status.
// Origin:  a slot that was freed before its copy had ended, a wait that was left out.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::recurrent && c.tokens >= 1; }

// What a case gets wrong is refused, and others judge that.
Verdict check(const Case& c, const Lab& lab) {
  const Observation seen = lab.run(c);
  Verdict verdict = seen.conduct;
  for (size_t i = 0; i < seen.calls.size(); ++i) {
    const CallObserved& call = seen.calls[i];
    if (!verdict.holds()) return verdict;
    if (call.status == GDN_UNSUPPORTED) return not_applicable(call.text);
    verdict = both(std::move(verdict), claim(call.status != GDN_INTERNAL,
                                             "call " + std::to_string(i + 1) + ": " + call.text));
  }
  return verdict;
}

const Registered self{{.claim = "a right call of recurrent meets no fault",
                       .applies = applies,
                       .check = check,
                       .kills = {"channel_decay_beside_head_decay",
                                 "decay_beside_the_token_before",
                                 "error_beside_its_sum",
                                 "gate_read_before_it_is_computed",
                                 "gates_overwritten_while_read",
                                 "inputs_not_awaited",
                                 "inputs_overwritten_while_used",
                                 "key_sum_beside_the_decay",
                                 "output_beside_the_update",
                                 "output_copied_before_it_is_rounded",
                                 "output_rounded_beside_its_sum",
                                 "output_slot_freed_before_its_copy_ended",
                                 "q_scaled_before_it_is_widened",
                                 "state_copied_before_it_is_rounded",
                                 "state_slot_freed_before_its_copy_ended",
                                 "state_stored_over_its_prefetch",
                                 "state_tile_not_awaited",
                                 "state_tile_overwritten_while_used",
                                 "states_without_guard",
                                 "stores_out_of_turn",
                                 "update_beside_its_error"}}};

}  // namespace
}  // namespace gdn
