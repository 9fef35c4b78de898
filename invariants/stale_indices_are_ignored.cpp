// Claim:   what an index array holds for tokens of no sequence, for sequences without tokens, and
//          behind its last entry changes nothing and is not refused.
// Why:     index arrays are written in place, step after step; what the last step left stays behind
//          what this one needs.
// Bound:   none: equal bits to clean arrays.
// Origin:  all entries of an array looked at, and the state stored wherever they pointed.
#include <limits>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

constexpr int64_t slots = 6;
constexpr int64_t tokens = 5;
constexpr int64_t tail = 2;

bool applies(const Case& c) { return c.subject == Subject::recurrent && c.tokens >= 1; }

Verdict equal(const std::string& what, const Case& c, const Lab& lab, const Call& stale,
              const Call& clean) {
  const Observation got = lab.run(c.with_calls({stale}));
  const Observation want = lab.run(c.with_calls({clean}));
  const bool refused = !got.calls.empty() && is_refusal(got.calls[0].status);
  if (want.served().holds() && refused) {
    return claim(false, what + ": it was refused: " + got.calls[0].text);
  }
  const Verdict served = both(got.served(), want.served());
  if (!served.holds()) return served;
  return both(served, same_bits(what, got.calls[0], want.calls[0]));
}

Verdict with(int64_t index, const Case& given, const Lab& lab) {
  const std::string of = "an index of " + std::to_string(index);
  const Case drafts = drafting_case(given, slots, tokens + tail);
  Call clean = batch_call({2, 3}, {5, 0, 2, 1, 3});
  clean.accepted = {2, 1};
  clean.given[Argument::tokens] = tokens + tail;
  Call stale = clean;
  clean.slots.resize(tokens + tail, 4);
  stale.slots.resize(tokens + tail, index);
  Verdict all = equal(of + " for a token of no sequence", drafts, lab, stale, clean);
  if (!all.holds()) return all;

  Call last = clean;
  last.slots.push_back(index);
  last.accepted.push_back(index);
  all = both(std::move(all), equal(of + " behind the last", drafts, lab, last, clean));

  Case finals = batch_case(given, slots, tokens);
  finals.dialect.start_slot = Dialect::StartSlot::accepted_minus_one;
  clean = batch_call({2, 0, 3}, {5, 4, 0});
  clean.accepted = {1, 1, 1};
  stale = clean;
  stale.slots[1] = stale.accepted[1] = index;
  return both(std::move(all), equal(of + " for an empty sequence", finals, lab, stale, clean));
}

Verdict check(const Case& c, const Lab& lab) {
  Verdict all = claim(true, "");
  // A slot that is in use, one that is not there, and none.
  for (const int64_t index :
       {int64_t{0}, slots, int64_t{std::numeric_limits<int32_t>::max()}, int64_t{-1}}) {
    if (all.holds()) all = both(std::move(all), with(index, c, lab));
  }
  return all;
}

const Registered self{{.claim = "stale entries of index arrays change nothing",
                       .applies = applies,
                       .check = check,
                       .kills = {"stale_slots_are_refused"},
                       .one_in = 8,
                       .searched_others_one_in = 64}};

}  // namespace
}  // namespace gdn
