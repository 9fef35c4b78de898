// Claim:   a sequence that starts from zero gives the bits that it gives in a slot of zeros,
//          whatever lies in its slot; one whose flag is zero starts from its slot.
// Why:     a slot is used again by one request after another, and nobody clears it in between.
// Bound:   none: equal bits.
// Origin:  a stale state times zero, which keeps a NaN; a flag looked for at the start of its
//          buffer, or one of which a byte was read.
#include <limits>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using A = Argument;

bool applies(const Case& c) { return c.subject == Subject::recurrent && c.tokens >= 1; }

Call tokens_of(const Case& c, std::vector<int64_t> from_zero) {
  const int64_t tokens = std::min<int64_t>(c.tokens, 4);
  Call call = call_of(CallKind::recurrent, {{A::first_token, 0}, {A::tokens, tokens}});
  call.from_zero = std::move(from_zero);
  return call;
}

Case in_a_slot_of(const Case& c, float x) {
  return c.with_numbers("S", std::vector<float>(static_cast<size_t>(c.shape.state_count()), x));
}

Verdict check(const Case& given, const Lab& lab) {
  Case c = given.with_calls({});
  // One slot has a state, of a pool in which all had.
  if (c.pool.states > 1) c.numbers.erase("S");
  c.pool.states = 1;
  const Observation zeros = lab.run(in_a_slot_of(c, 0).with_calls({tokens_of(c, {})}));
  const Observation own = lab.run(c.with_calls({tokens_of(c, {})}));
  Verdict verdict = both(zeros.served(), own.served());
  if (!verdict.holds()) return verdict;

  const float stale = std::numeric_limits<float>::quiet_NaN();
  const int64_t flags[] = {1, -1, 1 << 8, 1 << 16, std::numeric_limits<int32_t>::min()};
  std::vector<Call> calls;
  for (const int64_t flag : flags) calls.push_back(tokens_of(c, {flag}));
  const Observation again = lab.run(in_a_slot_of(c, stale).with_calls(calls));
  verdict = both(std::move(verdict), again.served());
  if (!verdict.holds()) return verdict;
  for (size_t i = 0; i < calls.size(); ++i) {
    verdict =
        both(std::move(verdict), same_bits("from zero by a flag of " + std::to_string(flags[i]),
                                           again.calls[i], zeros.calls[0]));
  }
  const Observation not_zero = lab.run(c.with_calls({tokens_of(c, {0})}));
  verdict = both(std::move(verdict), not_zero.served());
  if (!verdict.holds()) return verdict;
  return both(std::move(verdict), same_bits("a flag of 0", not_zero.calls[0], own.calls[0]));
}

const Registered self{{.claim = "a sequence from zero ignores what lies in its slot",
                       .applies = applies,
                       .check = check,
                       .kills = {"from_zero_flag_of_one_byte"},
                       .searched_others_one_in = 16}};

}  // namespace
}  // namespace gdn
