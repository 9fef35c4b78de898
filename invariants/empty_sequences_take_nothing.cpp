// Claim:   sequences without tokens, at the front, in the middle or at the end of a batch, change
// no
//          bit of the others, nor of any slot.
// Why:     a scheduler keeps a place for a request that has nothing to do in this step; the next
// one
//          must not get its tokens, its slot or its state.
// Bound:   none: equal bits to the batch without them.
// Origin:  a place that does not advance past an empty sequence; an empty one whose zero state is
//          stored.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using Coding = Dialect::SequenceCoding;

bool applies(const Case& c) { return c.subject == Subject::recurrent && c.tokens >= 1; }

Verdict coded(Coding coding, const Case& given, const Lab& lab) {
  Case c = batch_case(given, 6, 5);
  c.dialect.sequence_coding = coding;
  Call full = batch_call({2, 1, 2}, {4, 1, 3});
  full.from_zero = {0, 1, 0};
  Call gaps = batch_call({0, 2, 0, 0, 1, 2, 0}, {0, 4, 2, 5, 1, 3, 2});
  gaps.from_zero = {1, 0, 1, 0, 1, 0, 1};
  const RecurrentJudged with = judge_recurrent(c.with_calls({gaps}), lab);
  if (!with.verdict.holds()) return with.verdict;
  const Observation without = lab.run(c.with_calls({full}));
  Verdict all = both(with.verdict, without.served());
  if (!all.holds()) return all;
  all =
      both(std::move(all), same_bits("with empty sequences", with.seen.calls[0], without.calls[0]));
  const Call nothing = batch_call({0, 0}, {0, 5});
  const RecurrentJudged none = judge_recurrent(c.with_calls({nothing}), lab);
  return both(std::move(all), none.verdict);
}

Verdict check(const Case& c, const Lab& lab) {
  Verdict all;
  for (const Coding coding : {Coding::cumulative, Coding::lengths, Coding::start_and_lengths}) {
    // An engine may serve one coding alone.
    all = both_served(std::move(all), coded(coding, c, lab));
  }
  return all;
}

const Registered self{{.claim = "empty sequences change nothing of the others",
                       .applies = applies,
                       .check = check,
                       .kills = {"empty_sequence_clears_its_slot"},
                       .one_in = 8,
                       .searched_others_one_in = 64}};

}  // namespace
}  // namespace gdn
