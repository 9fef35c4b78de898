// Claim:   a new pool that cannot be had leaves the old one, its keys and every binding in place.
// Why:     pool_init on a live pool allocates the new before it frees the old.
// Bound:   none: the bytes of the pool, all states and the next steps in equal bits.
// Origin:  the old pool freed first, so that a model that did not fit took the running one along.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using A = Argument;
using K = CallKind;

bool applies(const Case& c) {
  return c.subject == Subject::layer && c.weights == Weights::q4 && c.tokens >= 1;
}

Verdict check(const Case& given, const Lab& lab) {
  const Case c = given.with_calls({});
  std::vector<Call> before = setup_calls(c);
  made::append(before, steps_of_all_layers(c, 0));
  std::vector<Call> after = pool_reads(c);
  made::append(after, steps_of_all_layers(c, c.tokens - 1));
  // More than any machine has, gate or no gate.
  const int64_t bytes = int64_t{1} << Rng{c.seed}.stream("pool bytes").range(58, 62);
  const WrongCall huge{call_of(K::pool_init, {{A::bytes, bytes}}), GDN_OK, "2^58 bytes or more"};
  const Verdict all = refused_without_trace(c, lab, before, {huge}, after);
  if (!lab.has_gate() || !all.holds()) return all;

  const WrongCall usual{call_of(K::pool_init), GDN_OUT_OF_MEMORY, "an allocation that was refused"};
  RunOptions options;
  options.refuse = RefusedAllocation{before.size(), 1};
  const Observation seen = lab.run(c.with_calls({call_of(K::pool_init)}));
  const bool asks = !seen.calls.empty() && seen.calls.front().allocations > 0;
  return asks ? both(all, refused_without_trace(c, lab, before, {usual}, after, options)) : all;
}

const Registered self{{.claim = "a pool_init that fails keeps the pool that there was",
                       .applies = applies,
                       .check = check,
                       .kills = {"failed_pool_init_drops_pool"}}};

}  // namespace
}  // namespace gdn
