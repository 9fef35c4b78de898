// Claim:   the last K states of a sequence are the states after its last K tokens, newest first; of
//          a shorter sequence those that it has. The pool keeps every state as it was.
// Why:     a rollback by k tokens takes snapshot k: in the other order, or off by one, it is
// another
//          text that looks as plausible.
// Bound:   none: equal bits to the state of every token; what is not written is untouched.
// Origin:  oldest first; a sequence of fewer than K tokens that fills the rest with its start
// state.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::recurrent && c.tokens >= 1; }

Verdict kept(int64_t count, const Case& given, const Lab& lab) {
  constexpr int64_t tokens = 6;
  const std::vector<int64_t> lengths = {1, 3, 0, 2};
  Case c = batch_case(given, tokens, tokens);
  c.dialect.state_writes = Dialect::StateWrites::last_k_newest_first;
  Call call = batch_call(lengths, {5, 1, 0, 3});
  call.given[Argument::snapshots] = count;
  const RecurrentJudged judged = judge_recurrent(c.with_calls({call}), lab);
  if (!judged.verdict.holds()) return judged.verdict;
  const CallObserved& seen = judged.seen.calls[0];
  Verdict all = both(judged.verdict, same_bits("the pool", seen.arrays.at("S"), lab.first_pool(c)));

  Case each = c;
  each.dialect.state_writes = Dialect::StateWrites::every_token;
  each.calls = {batch_call(lengths, {5, 1, 0, 2, 3, 4})};
  const Observation every = lab.run(each);
  // Not every engine serves both.
  if (every.served().outcome == Outcome::not_applicable) return all;
  all = both(std::move(all), every.served());
  if (!all.holds()) return all;
  const std::vector<int64_t>& slots = each.calls[0].slots;
  const int64_t size = c.shape.state_count();
  const auto sequences = static_cast<int64_t>(lengths.size());
  int64_t first = 0;
  for (int64_t n = 0; n < sequences; ++n) {
    const int64_t length = lengths[static_cast<size_t>(n)];
    for (int64_t back = 0; back < std::min(count, length); ++back) {
      const auto& snapshots = seen.arrays.at("snapshots");
      const auto begin = snapshots.begin() + (back * sequences + n) * size;
      const int64_t slot = slots[static_cast<size_t>(first + length - 1 - back)];
      all = both(std::move(all), same_bits("sequence " + std::to_string(n) + ", " +
                                               std::to_string(back) + " tokens back",
                                           std::vector<float>(begin, begin + size),
                                           state_of_slot(c, every.calls[0], slot)));
    }
    first += length;
  }
  return all;
}

Verdict check(const Case& c, const Lab& lab) {
  Verdict all = kept(2, c, lab);
  for (const int64_t count : {0, 1, 5}) {
    if (all.holds()) all = both(std::move(all), kept(count, c, lab));
  }
  return all;
}

const Registered self{{.claim = "snapshots are the states of the last tokens, newest first",
                       .applies = applies,
                       .check = check,
                       .kills = {"snapshots_oldest_first", "short_sequence_fills_every_snapshot"},
                       .one_in = 8,
                       .searched_others_one_in = 64}};

}  // namespace
}  // namespace gdn
