// Claim:   what fresh memory holds (NaN, 10^30, zeros) never reaches a number.
// Why:     all that an engine reads it has written, also after reloads, resets and rollbacks.
// Bound:   none: three runs of equal bits, or NaN in all.
// Origin:  a state that is zeroed at open and not where a layer is loaded again.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject != Subject::layer || c.tokens >= 1; }

// Through whatever allocates: loads, pools, snapshots, a stream, and a second life after unload.
std::vector<Call> calls_that_allocate(const Case& c, const Lab& lab) {
  Rng rng = Rng{c.seed}.stream("fresh_memory_is_never_read");
  const int64_t layer = rng.range(0, c.shape.num_layers - 1);
  const int64_t tokens = std::min<int64_t>(c.tokens, 2);
  const auto has = [&](const Call& call) { return lab.why_not(c.with_calls({call})).empty(); };
  std::vector<Call> calls = setup_calls(c);
  calls.push_back(made::state(layer));
  calls.push_back(made::step(layer, 0));
  if (has(made::snapshot(layer, 0)) && has(made::rollback(layer, 0))) {
    calls.push_back(made::snapshot(layer, 0));
    calls.push_back(made::step(layer, c.tokens - 1));
    calls.push_back(made::rollback(layer, 0));
  }
  if (has(made::run(layer, 0, tokens))) calls.push_back(made::run(layer, 0, tokens));
  if (has(made::forward(0, tokens))) calls.push_back(made::forward(0, tokens));
  const Call unload = made::call(CallKind::unload_layer, {{Argument::layer, layer}});
  if (has(unload)) {
    calls.push_back(unload);
    made::append(calls, made::load_again(c, layer));
  }
  calls.push_back(made::state(layer));
  for (int64_t t = 0; t < tokens; ++t) calls.push_back(made::step(layer, t));
  return calls;
}

Verdict check(const Case& given, const Lab& lab) {
  Verdict cannot;
  cannot.detail = "its fresh memory cannot be filled";
  if (!lab.can_fill()) return cannot;
  const bool has_layers = given.subject == Subject::layer;
  const Case c = has_layers ? given.with_calls(calls_that_allocate(given, lab)) : given;
  const Observation plain = lab.run(c);
  Verdict all = answered(c, plain);
  if (!all.holds()) return all;
  // A NaN, then 10^30 (0x7149f2ca), then zeros.
  for (const uint32_t pattern : {0xFFFFFFFFU, 0x7149F2CAU, 0U}) {
    all = both(std::move(all), same_bits(lab.run(c, {.fill = pattern}), plain));
  }
  return all;
}

const Registered self{{.claim = "what fresh memory holds never reaches a number",
                       .applies = applies,
                       .check = check,
                       .kills = {"padding_summed", "stale_row_after_reload"},
                       .one_in = 8}};

}  // namespace
}  // namespace gdn
