// Claim:   every call of the recurrence gives what each of its sequences gives from the state in
// its
//          slot, stores states where it was told to, and touches no other.
// Why:     a batch is many requests at once; one that reads or writes its neighbour's state is
// wrong
//          for a user who never learns why.
// Bound:   the reference's, sequence by sequence from the states that the engine itself held before
//          the call; slots that are not written: equal bits.
// Origin:  states of draft tokens in the wrong slots, padding that was written, stale indices.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::recurrent && !c.calls.empty(); }

bool is_recurrent(const Call& call) { return call.kind == CallKind::recurrent; }

Verdict check(const Case& c, const Lab& lab) {
  if (!std::all_of(c.calls.begin(), c.calls.end(), is_recurrent)) {
    return not_applicable("it has calls of other kinds");
  }
  return judge_recurrent(c, lab).verdict;
}

const Registered self{{.claim = "each sequence of a batch is right from the state in its slot",
                       .applies = applies,
                       .check = check,
                       .kills = {"accepted_count_off_by_one", "negative_slot_is_the_last_one",
                                 "slot_is_the_first_token"},
                       .searched_others_one_in = 4}};

}  // namespace
}  // namespace gdn
