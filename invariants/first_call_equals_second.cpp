// Claim:   a layer's first call gives what the same call gives later, and before it all is zero.
// Why:     capture, tuning and warm-up run beside the live state; a second handle starts likewise.
// Bound:   none: equal bits, or NaN in both.
// Origin:  a graph that is run while it is captured, on the live state.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::layer && c.tokens >= 1; }

// One call of each layer, its state read before and after, and a reset at the end.
std::vector<Call> round_of(const Case& c, bool by_run) {
  const int64_t tokens = std::min<int64_t>(c.tokens, 3);
  std::vector<Call> calls;
  for (int64_t layer = 0; layer < c.shape.num_layers; ++layer) {
    calls.push_back(made::state(layer));
    calls.push_back(by_run ? made::run(layer, 0, tokens) : made::step(layer, 0));
    calls.push_back(made::state(layer));
  }
  calls.push_back(made::reset(-1));
  return calls;
}

Verdict check(const Case& c, const Lab& lab) {
  Rng rng = Rng{c.seed}.stream("first_call_equals_second");
  const std::vector<Call> round = round_of(c, rng.range(0, 1) == 1);
  // A graph may be captured in one call, kept in the next, and replayed from the third on.
  const size_t rounds = 3;
  std::vector<Call> calls = setup_calls(c);
  const size_t setup_count = calls.size();
  for (size_t i = 0; i < rounds; ++i) made::append(calls, round);
  const Observation seen = lab.run(c.with_calls(calls));
  Verdict all = seen.served();
  if (!all.holds()) return all;
  CallObserved zero;
  for (const Tensor tensor : {Tensor::S, Tensor::HIST}) {
    zero.reads[tensor].assign(static_cast<size_t>(element_count(tensor, c.shape)), 0.0F);
  }
  for (size_t i = 0; i < round.size(); ++i) {
    const CallObserved& first = seen.calls[setup_count + i];
    const std::string call = "call " + std::to_string(setup_count + i + 1);
    for (size_t later = 1; later < rounds; ++later) {
      all = both(std::move(all),
                 same_bits(call + ", " + std::to_string(later) + " resets later",
                           seen.calls[setup_count + later * round.size() + i], first));
    }
    const bool is_before = i % 3 == 0;  // a token, or of all layers after the reset
    const bool is_after = i % 3 == 2;
    if (is_before) all = both(std::move(all), state_kept(call + ", before a token", first, zero));
    if (is_after) {
      all = both(std::move(all),
                 state_kept(call + ", between two calls", first, seen.calls[setup_count + i - 1]));
    }
  }
  return all;
}

const Registered self{{.claim = "a layer's first call gives what it gives later",
                       .applies = applies,
                       .check = check,
                       .kills = {"warm_up_advances_state"},
                       .one_in = 2}};

}  // namespace
}  // namespace gdn
