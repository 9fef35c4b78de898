// Claim:   each sequence of a batch gives the bits that it gives alone, in whatever form the
//          sequences are coded, and whoever else is in the batch.
// Why:     what a request gets must not depend on who shares its step.
// Bound:   none: equal bits.
// Origin:  lengths taken for offsets; the state of a sequence that was read by another one's index.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using Coding = Dialect::SequenceCoding;

constexpr int64_t slots = 5;

bool applies(const Case& c) { return c.subject == Subject::recurrent && c.tokens >= 1; }

struct Own {
  int64_t first, tokens, slot, from_zero;
};
constexpr Own owns[] = {{0, 1, 3, 0}, {1, 3, 0, 1}, {4, 2, 4, 0}, {6, 1, 1, 0}};
constexpr int64_t tokens_of_all = 7;

Verdict coded(Coding coding, const Case& given, const Lab& lab) {
  Case c = batch_case(given, slots, tokens_of_all);
  c.dialect.sequence_coding = coding;
  Call batch = batch_call({}, {});
  std::vector<Call> calls;
  for (const Own& own : owns) {
    batch.lengths.push_back(own.tokens);
    batch.slots.push_back(own.slot);
    batch.from_zero.push_back(own.from_zero);
    calls.push_back(batch_call({own.tokens}, {own.slot}, own.first));
    calls.back().from_zero = {own.from_zero};
  }
  batch.given[Argument::tokens] = tokens_of_all;
  const RecurrentJudged together = judge_recurrent(c.with_calls({batch}), lab);
  if (!together.verdict.holds()) return together.verdict;
  const Observation alone = lab.run(c.with_calls(calls));
  Verdict all = both(together.verdict, alone.served());
  for (size_t i = 0; i < calls.size() && all.holds(); ++i) {
    const std::string where = "sequence " + std::to_string(i) + " of the batch, ";
    all = both(std::move(all),
               same_bits(where + "o",
                         output_of_tokens(c, together.seen.calls[0], owns[i].first, owns[i].tokens),
                         alone.calls[i].arrays.at("o")),
               same_bits(where + "state", state_of_slot(c, together.seen.calls[0], owns[i].slot),
                         state_of_slot(c, alone.calls[i], owns[i].slot)));
  }
  return all;
}

Verdict check(const Case& c, const Lab& lab) {
  Verdict all;
  for (const Coding coding : {Coding::cumulative, Coding::lengths, Coding::start_and_lengths}) {
    // An engine may serve one coding alone.
    all = both_served(std::move(all), coded(coding, c, lab));
  }
  return all;
}

const Registered self{{.claim = "a sequence gives in a batch what it gives alone",
                       .applies = applies,
                       .check = check,
                       .kills = {"from_zero_of_the_first_sequence"},
                       .one_in = 8,
                       .searched_others_one_in = 64}};

}  // namespace
}  // namespace gdn
