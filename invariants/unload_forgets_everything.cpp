// Claim:   an unloaded layer is zero, refuses to step, and loaded anew is a fresh engine's.
// Why:     weights, binding and state go together; no other layer is touched.
// Bound:   none: refusals; equal bits, or NaN in both.
// Origin:  a slot that keeps the state of the model that had it before.
#include <algorithm>
#include <set>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::layer && c.tokens >= 1; }

Verdict check(const Case& c, const Lab& lab) {
  Rng rng = Rng{c.seed}.stream("unload_forgets_everything");
  const int64_t layer = rng.range(0, c.shape.num_layers - 1);
  const int64_t other = (layer + 1) % c.shape.num_layers;
  const int64_t tokens = std::min<int64_t>(c.tokens, 3);
  std::vector<Call> calls = setup_calls(c);
  const size_t setup_count = calls.size();
  calls.push_back(made::state(layer));
  const bool two_layers = other != layer;
  calls.push_back(two_layers ? made::step(other, c.tokens - 1) : made::state(layer));
  for (int64_t t = 0; t < tokens; ++t) calls.push_back(made::step(layer, t));
  const bool snaps =
      lab.why_not(c.with_calls({made::snapshot(layer, 0), made::rollback(layer, 0)})).empty();
  if (snaps) calls.push_back(made::snapshot(layer, 0));
  const size_t unloaded = calls.size();
  calls.push_back(made::call(CallKind::unload_layer, {{Argument::layer, layer}}));
  std::set<size_t> refusals = {calls.size()};
  calls.push_back(made::step(layer, 0));
  for (const Call& call : {made::run(layer, 0, 1), made::forward(0, 1)}) {
    if (!lab.why_not(c.with_calls({call})).empty()) continue;
    refusals.insert(calls.size());
    calls.push_back(call);
    calls.back().given[Argument::read_layer] = layer;
  }
  for (const Call& call : made::load_again(c, layer)) {
    // The small tensors alone do not make a layer of 4-bit weights ready.
    if (call.kind == CallKind::bind_q4) {
      refusals.insert(calls.size());
      calls.push_back(made::step(layer, 0));
    }
    calls.push_back(call);
  }
  calls.push_back(made::state(layer));
  if (snaps) {
    refusals.insert(calls.size());
    calls.push_back(made::rollback(layer, 0));
  }
  const size_t loaded = calls.size();
  for (int64_t t = 0; t < tokens; ++t) calls.push_back(made::step(layer, t));
  calls.push_back(made::state(other));
  const Observation seen = lab.run(c.with_calls(calls));
  Verdict all = served_but(seen, refusals);
  if (!all.holds()) return all;
  const CallObserved& zero = seen.calls[setup_count];
  for (size_t i = unloaded; i < loaded; ++i) {
    if (calls[i].reads.empty()) continue;
    all = both(std::move(all), state_kept("call " + std::to_string(i + 1) + " after unload_layer",
                                          seen.calls[i], zero));
  }
  for (size_t t = 0; t < static_cast<size_t>(tokens); ++t) {
    all = both(std::move(all), same_bits("token " + std::to_string(t) + " after load",
                                         seen.calls[loaded + t], seen.calls[setup_count + 2 + t]));
  }
  return both(std::move(all),
              state_kept("layer " + std::to_string(other) + " beside it", seen.calls.back(),
                         seen.calls[two_layers ? setup_count + 1 : calls.size() - 2]));
}

const Registered self{{.claim = "an unloaded layer forgets everything",
                       .applies = applies,
                       .check = check,
                       .kills = {"unload_keeps_state"},
                       .one_in = 2}};

}  // namespace
}  // namespace gdn
