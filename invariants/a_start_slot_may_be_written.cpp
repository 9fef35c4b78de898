// Claim:   a call that starts from a slot into which it also stores gives what it gives from a copy
//          of that state elsewhere.
// Why:     the slots of a sequence's drafts are used again by its next step, the accepted one among
//          them: the start is overwritten by a token of the same call.
// Bound:   none: equal bits.
// Origin:  parts of a state that are read after another token has stored over them.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::recurrent && c.tokens >= 1; }

Verdict check(const Case& given, const Lab& lab) {
  if (!is_token_loop(lab)) return not_applicable("its bits depend on where calls end");
  constexpr int64_t tokens = 4;
  Case c = drafting_case(given, tokens + 2, tokens);
  const std::vector<int64_t> slots = {3, 1, 4, 2};
  Verdict all;
  for (int64_t accepted = 1; accepted <= tokens; ++accepted) {
    Call call = batch_call({tokens}, slots);
    call.accepted = {accepted};
    const RecurrentJudged judged = judge_recurrent(c.with_calls({call}), lab);
    if (!judged.verdict.holds()) return judged.verdict;
    const CallObserved& seen = judged.seen.calls[0];
    Case elsewhere = c;
    elsewhere.dialect.state_writes = Dialect::StateWrites::final_only;
    const int64_t start = slots[static_cast<size_t>(accepted - 1)];
    elsewhere.calls = {batch_call({tokens}, {start})};
    const Observation want = lab.run(elsewhere);
    Verdict one = both(judged.verdict, want.served());
    if (!one.holds()) return one;
    const std::string where = "from slot " + std::to_string(start) + ", token " +
                              std::to_string(accepted) + " stores over it: ";
    one = both(std::move(one),
               same_bits(where + "o", seen.arrays.at("o"), want.calls[0].arrays.at("o")),
               same_bits(where + "the last state", state_of_slot(c, seen, slots.back()),
                         state_of_slot(c, want.calls[0], start)));
    all = all.holds() ? both(std::move(all), std::move(one)) : std::move(one);
  }
  return all;
}

const Registered self{{.claim = "a sequence may start from a slot that it writes",
                       .applies = applies,
                       .check = check,
                       .kills = {"final_state_goes_to_the_start_slot"},
                       .one_in = 8,
                       .searched_others_one_in = 64}};

}  // namespace
}  // namespace gdn
