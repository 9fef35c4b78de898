// Claim:   a layer's step touches its own state alone, and gives what it gives with no other
// beside. Why:     each layer owns a slice of the states; every ordered pair of layers is looked
// at. Bound:   none: equal bits, or NaN in both. Origin:  a state that reaches one head into the
// next layer; one history for all layers.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) {
  return c.subject == Subject::layer && c.shape.num_layers >= 2 && c.tokens >= 1;
}

// Layers have one set of weights and start at different tokens, so that a swap of slices shows.
int64_t token_of(const Case& c, int64_t layer, int64_t round) { return (layer + round) % c.tokens; }

struct Fed {
  size_t call;
  int64_t layer;
};

Verdict check(const Case& c, const Lab& lab) {
  const int64_t layers = c.shape.num_layers;
  const int64_t rounds = 2;
  std::vector<Call> calls = made::same_weights_setup(c);
  const size_t setup_count = calls.size();
  for (int64_t layer = 0; layer < layers; ++layer) calls.push_back(made::state(layer));
  std::vector<Fed> fed;
  for (int64_t round = 0; round < rounds; ++round) {
    for (int64_t i = 0; i < layers; ++i) {
      // The second round goes backwards: a neighbour is touched from both sides.
      const int64_t layer = round % 2 == 0 ? i : layers - 1 - i;
      fed.push_back({calls.size(), layer});
      calls.push_back(made::step(layer, token_of(c, layer, round)));
      for (int64_t other = 0; other < layers; ++other) calls.push_back(made::state(other));
    }
  }
  const Observation seen = lab.run(c.with_calls(calls));
  Verdict all = seen.served();
  if (!all.holds()) return all;

  const auto count = static_cast<size_t>(layers);
  size_t before = setup_count;
  for (const Fed& now : fed) {
    for (size_t other = 0; other < count; ++other) {
      const CallObserved& got = seen.calls[now.call + 1 + other];
      const bool own = static_cast<int64_t>(other) == now.layer;
      const CallObserved& left = seen.calls[own ? now.call : before + other];
      all = both(std::move(all), state_kept("layer " + std::to_string(other) + " after call " +
                                                std::to_string(now.call + 1) +
                                                ", a step of layer " + std::to_string(now.layer),
                                            got, left));
    }
    before = now.call + 1;
  }
  for (int64_t layer = 0; layer < layers; ++layer) {
    std::vector<Call> alone = made::same_weights_setup(c);
    for (int64_t round = 0; round < rounds; ++round) {
      alone.push_back(made::step(layer, token_of(c, layer, round)));
    }
    const Observation want = lab.run(c.with_calls(alone));
    all = both(std::move(all), want.served());
    if (!want.served().holds()) return all;
    size_t next = setup_count;
    for (const Fed& now : fed) {
      if (now.layer != layer) continue;
      all = both(std::move(all), same_bits("layer " + std::to_string(layer) + " against it alone",
                                           seen.calls[now.call], want.calls[next++]));
    }
  }
  return all;
}

const Registered self{
    {.claim = "layers are independent slices of the state",
     .applies = applies,
     .check = check,
     .kills = {"layer_offset", "history_shared_between_layers", "step_touches_layer_zero"}}};

}  // namespace
}  // namespace gdn
