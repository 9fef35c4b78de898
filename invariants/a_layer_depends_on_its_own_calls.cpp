// Claim:   in any order of calls, a layer gives what it gives when all calls to others are left
// out. Why:     calls that name one layer read and change that layer alone. Bound:   none: equal
// bits, or NaN in both. Origin:  a reset of one layer that clears all; a step that shifts another
// layer's history.
#include <algorithm>
#include <set>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) {
  return c.subject == Subject::layer && c.shape.num_layers >= 2 && c.tokens >= 1;
}

// A call of one layer: mostly a feed, else a reset, or the state as it was when last exported.
Call drawn_call(const Case& c, const Lab& lab, Rng& rng, std::set<int64_t>& exported) {
  const int64_t layer = rng.range(0, c.shape.num_layers - 1);
  const int64_t tokens = rng.range(1, std::min<int64_t>(c.tokens, 3));
  Call call = made::step(layer, rng.range(0, c.tokens - 1));
  switch (rng.range(0, 6)) {
    case 0:
      call = made::reset(layer);
      break;
    case 1:
      call = made::run(layer, rng.range(0, c.tokens - tokens), tokens);
      break;
    case 2:
      call = made::state_export(layer, layer);
      break;
    case 3:
      if (exported.contains(layer)) call = made::state_import(layer, layer);
      break;
    default:
      break;
  }
  if (!lab.why_not(c.with_calls({call})).empty()) return made::step(layer, 0);
  if (call.kind == CallKind::state_export) exported.insert(layer);
  return call;
}

Verdict check(const Case& c, const Lab& lab) {
  Rng rng = Rng{c.seed}.stream("a_layer_depends_on_its_own_calls");
  const int calls_count = 16;
  std::vector<Call> calls = setup_calls(c);
  const size_t setup_count = calls.size();
  std::set<int64_t> exported;
  for (int i = 0; i < calls_count; ++i) calls.push_back(drawn_call(c, lab, rng, exported));
  for (int64_t layer = 0; layer < c.shape.num_layers; ++layer) calls.push_back(made::state(layer));
  const Observation seen = lab.run(c.with_calls(calls));
  Verdict all = seen.served();
  if (!all.holds()) return all;
  for (int64_t layer = 0; layer < c.shape.num_layers; ++layer) {
    std::vector<Call> own = setup_calls(c);
    std::vector<size_t> places;
    for (size_t i = setup_count; i < calls.size(); ++i) {
      if (calls[i].at(Argument::layer) != layer) continue;
      own.push_back(calls[i]);
      places.push_back(i);
    }
    const Observation alone = lab.run(c.with_calls(own));
    all = both(std::move(all), alone.served());
    if (!alone.served().holds()) return all;
    for (size_t i = 0; i < places.size(); ++i) {
      const std::string what = "call " + std::to_string(places[i] + 1) + ", " +
                               std::string(name_of(calls[places[i]].kind)) + " of layer " +
                               std::to_string(layer) + ", against its own calls alone";
      all = both(std::move(all),
                 same_bits(what, seen.calls[places[i]], alone.calls[setup_count + i]));
    }
  }
  return all;
}

const Registered self{{.claim = "a layer depends on its own calls alone",
                       .applies = applies,
                       .check = check,
                       .kills = {"layer_offset", "reset_clears_every_layer",
                                 "history_shared_between_layers", "step_touches_layer_zero"},
                       .one_in = 2}};

}  // namespace
}  // namespace gdn
