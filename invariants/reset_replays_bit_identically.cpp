// Claim:   after a reset a sequence gives what it gives on a fresh engine: output, S and history.
// Why:     reset zeroes both states of the layers that it names, and touches no other layer's.
// Bound:   none: equal bits, or NaN in both.
// Origin:  a conv history, or a state, that outlives the sequence it belongs to.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::layer && c.tokens >= 1; }

// A drawn piece of the stream on one layer, by run or token by token.
std::vector<Call> drawn_sequence(const Case& c, Rng& rng, int64_t layer) {
  const int64_t tokens = rng.range(1, std::min<int64_t>(c.tokens, 4));
  const int64_t first = rng.range(0, c.tokens - tokens);
  if (rng.range(0, 1) == 0) return {made::run(layer, first, tokens)};
  std::vector<Call> calls;
  for (int64_t t = first; t < first + tokens; ++t) calls.push_back(made::step(layer, t));
  return calls;
}

Verdict check(const Case& c, const Lab& lab) {
  Rng rng = Rng{c.seed}.stream("reset_replays_bit_identically");
  const int64_t layers = c.shape.num_layers;
  const int64_t target = rng.range(0, layers - 1);
  std::vector<Call> calls = setup_calls(c);
  const size_t setup_count = calls.size();
  std::vector<size_t> before;  // of each layer: the last call that fed it
  for (int64_t layer = 0; layer < layers; ++layer) {
    made::append(calls, drawn_sequence(c, rng, layer));
    before.push_back(calls.size() - 1);
  }
  calls.push_back(made::reset(target));
  const size_t after = calls.size();
  for (int64_t layer = 0; layer < layers; ++layer) calls.push_back(made::state(layer));
  const std::vector<Call> again = drawn_sequence(c, rng, target);
  const size_t replayed = calls.size();
  made::append(calls, again);
  calls.push_back(made::reset(-1));
  const size_t after_all = calls.size();
  for (int64_t layer = 0; layer < layers; ++layer) calls.push_back(made::state(layer));
  const size_t replayed_after_all = calls.size();
  made::append(calls, again);
  const Observation seen = lab.run(c.with_calls(calls));

  std::vector<Call> alone = setup_calls(c);
  for (int64_t layer = 0; layer < layers; ++layer) alone.push_back(made::state(layer));
  made::append(alone, again);
  const Observation fresh = lab.run(c.with_calls(alone));
  Verdict all = both(seen.served(), fresh.served());
  if (!all.holds()) return all;
  const auto kept = [&](const std::string& what, const CallObserved& got,
                        const CallObserved& left) {
    all = both(std::move(all), state_kept(what, got, left));
  };
  const auto l = static_cast<size_t>(layers);
  for (size_t layer = 0; layer < l; ++layer) {
    const bool is_target = static_cast<int64_t>(layer) == target;
    const CallObserved& zero = fresh.calls[setup_count + layer];
    const std::string name = "layer " + std::to_string(layer);
    kept(name + " after reset of layer " + std::to_string(target), seen.calls[after + layer],
         is_target ? zero : seen.calls[before[layer]]);
    kept(name + " after reset of all", seen.calls[after_all + layer], zero);
  }
  for (size_t i = 0; i < again.size(); ++i) {
    const CallObserved& want = fresh.calls[setup_count + l + i];
    const std::string name = "call " + std::to_string(i + 1) + " after reset of ";
    all = both(std::move(all),
               same_bits(name + "layer " + std::to_string(target), seen.calls[replayed + i], want),
               same_bits(name + "all", seen.calls[replayed_after_all + i], want));
  }
  return all;
}

const Registered self{
    {.claim = "after a reset a sequence gives the bits that it gives on a fresh engine",
     .applies = applies,
     .check = check,
     .kills = {"reset_keeps_history", "reset_keeps_state", "reset_clears_every_layer"},
     .one_in = 2}};

}  // namespace
}  // namespace gdn
