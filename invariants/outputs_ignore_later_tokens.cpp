// Claim:   the output of a token in a run does not depend on the tokens after it.
// Why:     the layer is causal: conv looks back, and the state holds what came before.
// Bound:   a token loop: equal bits. A chunked recurrence: each within the global check's bound.
// Origin:  a conv window, or a chunk's mask, that is one token off.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) {
  const bool fits = c.tokens * c.shape.hidden_size <= int64_t{explicit_numbers_max} / 2;
  return c.subject == Subject::layer && c.tokens >= 2 && fits;
}

// The stream with every token from `cut` on replaced by the negative of another one.
Case with_another_end(const Case& c, const std::vector<std::vector<float>>& h, int64_t cut) {
  std::vector<float> all;
  for (int64_t t = 0; t < c.tokens; ++t) {
    const bool is_kept = t < cut;
    const auto row = static_cast<size_t>(is_kept ? t : c.tokens - 1 - (t - cut));
    for (const float x : h[row]) all.push_back(is_kept ? x : -x);
  }
  return c.with_numbers("h", all);
}

Verdict check(const Case& c, const Lab& lab) {
  Rng rng = Rng{c.seed}.stream("outputs_ignore_later_tokens");
  const int64_t tokens = rng.range(2, c.tokens);
  const int64_t cut = rng.range(1, tokens - 1);
  const int64_t layer = rng.range(0, c.shape.num_layers - 1);
  std::vector<Call> calls = setup_calls(c);
  calls.push_back(made::run(layer, 0, tokens));
  const Case one = c.with_calls(calls);
  std::string why;
  const std::optional<Numbers> numbers = materialise(c.with_calls({}), &why);
  const Observation seen = lab.run(one);
  if (!numbers || !seen.served().holds()) return seen.served();
  const Case two = with_another_end(one, numbers->h, cut);
  const Observation other = lab.run(two);
  Verdict all = both(seen.served(), other.served());
  if (!all.holds()) return all;
  if (lab.contract().recurrence != Recurrence::token_loop) {
    const int64_t hidden = c.shape.hidden_size;
    return both(std::move(all),
                within("run", seen.calls.back(), lab.expect(one).calls.back(), hidden),
                within("run", other.calls.back(), lab.expect(two).calls.back(), hidden));
  }
  for (int64_t t = 0; t < cut; ++t) {
    const auto row = static_cast<size_t>(t);
    all = both(std::move(all),
               same_bits("OUT of token " + std::to_string(t) + " of " + std::to_string(tokens) +
                             ", others from " + std::to_string(cut) + " on",
                         row_of(other.calls.back().out, row, c.shape.hidden_size),
                         row_of(seen.calls.back().out, row, c.shape.hidden_size)));
  }
  return all;
}

const Registered self{{.claim = "outputs do not depend on later tokens",
                       .applies = applies,
                       .check = check,
                       .kills = {"run_reads_next_token"},
                       .one_in = 2}};

}  // namespace
}  // namespace gdn
