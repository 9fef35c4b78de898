// Claim:   with float32 states a sequence in one call gives the bits of its tokens in a call each,
//          every token's state included.
// Why:     a prompt may be cut anywhere; what is kept between two calls is all that a token needs.
// Bound:   none: equal bits, for an engine that takes one token after the other.
// Origin:  a token's state that was kept before its update; decays that were taken once a call.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::recurrent && c.tokens >= 2; }

Verdict check(const Case& given, const Lab& lab) {
  if (!is_token_loop(lab)) return not_applicable("its bits depend on where calls end");
  const int64_t tokens = Rng{given.seed}.stream("one call").range(2, 17);
  Case c = drafting_case(given, tokens + 1, tokens);
  c.dialect.state_storage = Format::f32;
  const std::vector<int64_t> slots = counted(1, tokens);
  const Observation one = lab.run(c.with_calls({batch_call({tokens}, slots)}));
  Case finals = c;
  finals.dialect.state_writes = Dialect::StateWrites::final_only;
  for (int64_t t = 0; t < tokens; ++t) finals.calls.push_back(batch_call({1}, {1}, t));
  const Observation many = lab.run(finals);
  Verdict all = both(one.served(), many.served());
  for (int64_t t = 0; t < tokens && all.holds(); ++t) {
    const CallObserved& alone = many.calls[static_cast<size_t>(t)];
    const std::string where = "token " + std::to_string(t) + " of " + std::to_string(tokens);
    all = both(
        std::move(all),
        same_bits(where + ", o", output_of_tokens(c, one.calls[0], t, 1), alone.arrays.at("o")),
        same_bits(where + ", state", state_of_slot(c, one.calls[0], 1 + t),
                  state_of_slot(c, alone, 1)));
  }
  return all;
}

const Registered self{{.claim = "tokens in one call give the bits of a call each",
                       .applies = applies,
                       .check = check,
                       .kills = {"only_the_last_draft_is_stored"},
                       .one_in = 4,
                       .searched_others_one_in = 32}};

}  // namespace
}  // namespace gdn
