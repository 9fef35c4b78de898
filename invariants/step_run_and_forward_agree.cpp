// Claim:   T steps, a run of T and a forward of T give the same outputs, states and histories.
// Why:     they are the same kernels, one token after the other, with fewer round trips.
// Bound:   a token loop: equal bits. A chunked recurrence: each within the global check's bound.
// Origin:  a tail that decays by a padded gate; a last token that the history lacks.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::layer && c.tokens >= 1; }

// Around one, and around every multiple of 32 up to two chunks of 64.
int64_t drawn_tokens(Rng& rng, int64_t tokens_max) {
  std::vector<int64_t> lengths;
  for (const int64_t length :
       {1, 2, 3, 4, 5, 31, 32, 33, 63, 64, 65, 69, 95, 96, 97, 127, 128, 129}) {
    if (length <= tokens_max) lengths.push_back(length);
  }
  return lengths[static_cast<size_t>(rng.range(0, static_cast<int64_t>(lengths.size()) - 1))];
}

// Layer by layer, each token or the whole stream: the out of one is the h of the next.
std::vector<Call> chained(const Case& c, int64_t first, int64_t tokens) {
  std::vector<Call> calls;
  for (int64_t layer = 0; layer < c.shape.num_layers; ++layer) {
    Call call = made::run(layer, first, tokens);
    call.given[Argument::out_id] = layer;
    if (layer > 0) call.given[Argument::h_id] = layer - 1;
    calls.push_back(std::move(call));
  }
  return calls;
}

Verdict forward_is_the_chain(const Case& c, const Lab& lab, int64_t first, int64_t tokens) {
  std::vector<Call> warm = setup_calls(c);
  if (first > 0) warm.push_back(made::forward(0, first));
  std::vector<Call> at_once = warm;
  at_once.push_back(made::forward(first, tokens));
  for (int64_t layer = 0; layer < c.shape.num_layers; ++layer) {
    at_once.push_back(made::state(layer));
  }
  std::vector<Call> in_turn = warm;
  made::append(in_turn, chained(c, first, tokens));
  if (!lab.why_not(c.with_calls(at_once)).empty()) return claim(true, "");
  const Observation one = lab.run(c.with_calls(at_once));
  const Observation two = lab.run(c.with_calls(in_turn));
  Verdict all = both(one.served(), two.served());
  if (!all.holds()) return all;
  const std::string what = "forward of " + std::to_string(tokens) + " tokens";
  all = both(std::move(all),
             same_bits(what + ", out", one.calls[warm.size()].out, two.calls.back().out));
  for (size_t layer = 0; layer < static_cast<size_t>(c.shape.num_layers); ++layer) {
    all = both(std::move(all),
               state_kept(what + ", layer " + std::to_string(layer),
                          one.calls[warm.size() + 1 + layer], two.calls[warm.size() + layer]));
  }
  return all;
}

// Each against what the case determines: pieces of other lengths are summed in another order.
Verdict each_within_bound(const Case& c, const Lab& lab, const std::vector<Call>& calls,
                          const Observation& seen, const std::string& what) {
  const Expectation& want = lab.expect(c.with_calls(calls));
  Verdict all = claim(true, "");
  for (size_t i = 0; i < calls.size(); ++i) {
    all = both(std::move(all), within(what + ", call " + std::to_string(i + 1), seen.calls[i],
                                      want.calls[i], c.shape.hidden_size));
  }
  return all;
}

Verdict check(const Case& c, const Lab& lab) {
  Rng rng = Rng{c.seed}.stream("step_run_and_forward_agree");
  const int64_t tokens = drawn_tokens(rng, c.tokens);
  // What came before shows a run that starts anew.
  const int64_t first = rng.range(0, std::min<int64_t>(2, c.tokens - tokens));
  const int64_t layer = rng.range(0, c.shape.num_layers - 1);
  std::vector<Call> warm = setup_calls(c);
  for (int64_t t = 0; t < first; ++t) warm.push_back(made::step(layer, t));
  std::vector<Call> stepped = warm;
  for (int64_t t = first; t < first + tokens; ++t) {
    stepped.push_back(made::step(layer, t));
    if (t + 1 < first + tokens) stepped.back().reads.clear();
  }
  std::vector<Call> at_once = warm;
  at_once.push_back(made::run(layer, first, tokens));
  const Observation steps = lab.run(c.with_calls(stepped));
  const Observation run = lab.run(c.with_calls(at_once));
  Verdict all = both(steps.served(), run.served());
  if (!all.holds()) return all;
  const std::string what = "run of " + std::to_string(tokens) + " tokens";
  if (!is_token_loop(lab)) {
    return both(std::move(all), each_within_bound(c, lab, stepped, steps, "steps"),
                each_within_bound(c, lab, at_once, run, what));
  }
  CallObserved want = steps.calls.back();
  want.out.clear();
  for (size_t i = warm.size(); i < stepped.size(); ++i) {
    want.out.insert(want.out.end(), steps.calls[i].out.begin(), steps.calls[i].out.end());
  }
  all = both(std::move(all), same_bits(what, run.calls.back(), want));
  // Twice the work again for every layer: of long streams, half of them.
  const bool is_long = tokens > 5;
  if (is_long && rng.range(0, 1) == 0) return all;
  return both(std::move(all), forward_is_the_chain(c, lab, first, tokens));
}

const Registered self{{.claim = "steps, a run and a forward of the same tokens agree",
                       .applies = applies,
                       .check = check,
                       .kills = {"run_drops_last_token_from_history", "forward_skips_second_layer",
                                 "chunk_tail_decays_once_more", "run_starts_from_zero_state"},
                       .one_in = 2}};

}  // namespace
}  // namespace gdn
