// Claim:   tokens before the first and behind the last sequence of a batch have no output written,
//          and change no bit of what the sequences give.
// Why:     buffers are as long as the largest batch; what lies behind the tokens of this one is of
//          another step.
// Bound:   none: equal bits, and sentinels in o where no sequence is.
// Origin:  outputs computed for all tokens of the buffer; the last sequence taken to its end.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using Coding = Dialect::SequenceCoding;

constexpr int64_t tail = 3;

bool applies(const Case& c) { return c.subject == Subject::recurrent && c.tokens >= 1; }

Verdict coded(Coding coding, int64_t start, const Case& given, const Lab& lab) {
  constexpr int64_t tokens = 4;
  Case c = batch_case(given, 4, start + tokens + tail);
  c.dialect.sequence_coding = coding;
  const Call exact = batch_call({1, 3}, {2, 0}, start);
  Call longer = batch_call({1, 3}, {2, 0}, 0);
  longer.given[Argument::tokens] = start + tokens + tail;
  if (start > 0) longer.given[Argument::start] = start;
  // The Lab looks at o beyond the sequences.
  const RecurrentJudged with = judge_recurrent(c.with_calls({longer}), lab);
  if (!with.verdict.holds()) return with.verdict;
  const Observation without = lab.run(c.with_calls({exact}));
  Verdict all = both(with.verdict, without.served());
  if (!all.holds()) return all;
  const CallObserved& seen = with.seen.calls[0];
  return both(std::move(all),
              same_bits("o beside tokens of no sequence", output_of_tokens(c, seen, start, tokens),
                        without.calls[0].arrays.at("o")),
              same_bits("states beside tokens of no sequence", seen.arrays.at("S"),
                        without.calls[0].arrays.at("S")));
}

Verdict check(const Case& c, const Lab& lab) {
  constexpr std::pair<Coding, int64_t> ways[] = {{Coding::cumulative, 0},
                                                 {Coding::lengths, 0},
                                                 {Coding::start_and_lengths, 0},
                                                 {Coding::start_and_lengths, 2}};
  Verdict all;
  for (const auto& [coding, start] : ways) {
    all = both_served(std::move(all), coded(coding, start, c, lab));
  }
  return all;
}

const Registered self{{.claim = "tokens of no sequence are neither written nor used",
                       .applies = applies,
                       .check = check,
                       .kills = {"last_sequence_takes_the_tail", "first_token_of_all_ignored"},
                       .one_in = 8,
                       .searched_others_one_in = 64}};

}  // namespace
}  // namespace gdn
