// Claim:   after d drafts of which j were accepted the next call goes on as if the others had never
//          been fed, whether it drafts again, feeds one token, or several one by one.
// Why:     speculative decoding stores a state for every draft and starts from the one that was
//          accepted last; any other state is another text.
// Bound:   none: equal bits to the accepted tokens alone, in one call and then the same next ones.
// Origin:  an accepted count off by one; the newest state in place of the accepted one.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

constexpr int64_t drafts_max = 16;
constexpr int64_t singles = 3;

bool applies(const Case& c) { return c.subject == Subject::recurrent && c.tokens >= 1; }

// Sequences in slot 1 of the tokens alone that were accepted, then the next ones by `pieces`.
Observation never_drafted(const Case& c, const Lab& lab, int64_t accepted, int64_t first,
                          const std::vector<int64_t>& pieces) {
  Case alone = c;
  alone.dialect.state_writes = Dialect::StateWrites::final_only;
  alone.calls = {batch_call({accepted}, {1})};
  for (const int64_t piece : pieces) {
    alone.calls.push_back(batch_call({piece}, {1}, first));
    first += piece;
  }
  return lab.run(alone);
}

// A step is its first token and the drafts behind it: of j accepted drafts j + 1 tokens stay.
Verdict after(int64_t drafts, int64_t drafts_accepted, const Case& given, const Lab& lab) {
  const int64_t tokens = drafts + 1;
  const int64_t accepted = drafts_accepted + 1;
  const Case c = drafting_case(given, tokens + 1, tokens + std::max(tokens, singles));
  // From 1 on, which is where never_drafted starts.
  const std::vector<int64_t> slots = counted(1, tokens);
  const Call drafting = batch_call({tokens}, slots);
  const std::string where =
      std::to_string(drafts_accepted) + " of " + std::to_string(drafts) + " drafts, then ";
  const auto outputs = [&](const std::string& what, const std::vector<Call>& next,
                           const std::vector<int64_t>& pieces) {
    std::vector<Call> calls = {drafting};
    calls.insert(calls.end(), next.begin(), next.end());
    const Observation got = lab.run(c.with_calls(calls));
    const Observation want = never_drafted(c, lab, accepted, tokens, pieces);
    Verdict all = both(got.served(), want.served());
    for (size_t i = 1; i < calls.size() && all.holds(); ++i) {
      all = both(std::move(all), same_bits(where + what, got.calls[i].arrays.at("o"),
                                           want.calls[i].arrays.at("o")));
    }
    return all;
  };
  Call again = batch_call({tokens}, slots, tokens);
  again.accepted = {accepted};
  // A step of fewer tokens than were accepted names the slot itself.
  std::vector<Call> lone;
  for (int64_t t = 0; t < singles; ++t) lone.push_back(batch_call({1}, {accepted}, tokens + t));
  return both(outputs("as many again", {again}, {tokens}),
              outputs("single tokens", lone, std::vector<int64_t>(singles, 1)));
}

Verdict check(const Case& c, const Lab& lab) {
  if (!is_token_loop(lab)) return not_applicable("its bits depend on where calls end");
  Rng rng = Rng{c.seed}.stream("accepted drafts");
  const int64_t drawn = rng.range(1, drafts_max);
  const std::pair<int64_t, int64_t> ways[] = {{0, 0},
                                              {drafts_max, drafts_max},
                                              {drafts_max, 0},
                                              {2, rng.range(0, 2)},
                                              {drawn, rng.range(0, drawn)}};
  Verdict all;
  for (const auto& [drafts, accepted] : ways) {
    Verdict one = after(drafts, accepted, c, lab);
    if (!one.holds()) return one;
    all = all.holds() ? both(std::move(all), std::move(one)) : std::move(one);
  }
  return all;
}

const Registered self{{.claim = "a step goes on from the state of the last accepted token",
                       .applies = applies,
                       .check = check,
                       .kills = {"accepted_count_off_by_one", "newest_draft_taken_as_accepted"},
                       .one_in = 8,
                       .searched_others_one_in = 64}};

}  // namespace
}  // namespace gdn
