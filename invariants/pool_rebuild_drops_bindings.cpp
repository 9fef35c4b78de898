// Claim:   a pool that is made anew unbinds every layer, although old keys find tensors of old
//          shape.
// Why:     a step with the tensor that now stands under an old key is a silent wrong answer.
// Bound:   none: a refusal that changes nothing; after binding, the bits of a fresh engine.
// Origin:  a binding that is remembered by its key.
#include <set>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) {
  return c.subject == Subject::layer && c.weights == Weights::q4 && c.shape.num_layers >= 2 &&
         c.tokens >= 1;
}

// The matrices of `weights` under the keys that are layer 0's own.
std::vector<Call> put(int64_t weights) {
  std::vector<Call> calls;
  for (int64_t matrix = 0; matrix < 3; ++matrix) {
    calls.push_back(made::call(
        CallKind::pool_put,
        {{Argument::weights, weights}, {Argument::matrix, matrix}, {Argument::key, 1 + matrix}}));
  }
  return calls;
}

// Layer 0 ready with the matrices of `weights`, layer 1 with its own.
std::vector<Call> fresh(const Case& c, int64_t weights) {
  std::vector<Call> calls;
  for (Call& call : setup_calls(c)) {
    const bool own = call.kind == CallKind::pool_put && call.at(Argument::weights) == 0;
    if (!own) calls.push_back(call);
    if (call.kind == CallKind::pool_init) made::append(calls, put(weights));
  }
  return calls;
}

Verdict check(const Case& c, const Lab& lab) {
  Rng rng = Rng{c.seed}.stream("pool_rebuild_drops_bindings");
  const bool clears = rng.range(0, 1) == 0;
  const Call bind = made::call(CallKind::bind_q4);
  std::vector<Call> calls = setup_calls(c);
  calls.push_back(made::step(0, 0));
  const size_t stepped = calls.size() - 1;
  calls.push_back(made::call(clears ? CallKind::pool_clear : CallKind::pool_init));
  made::append(calls, put(1));
  const size_t rebuilt = calls.size();
  calls.push_back(made::step(0, 0));
  calls.push_back(made::step(c.shape.num_layers - 1, 0));
  calls.back().given[Argument::read_layer] = 0;
  calls.push_back(made::run(0, 0, 1));
  calls.push_back(made::forward(0, 1));
  const size_t bound = calls.size();
  calls.push_back(bind);
  calls.push_back(made::reset(0));
  calls.push_back(made::step(0, 0));

  std::vector<Call> other = fresh(c, 1);
  other.push_back(made::step(0, 0));
  const Observation seen = lab.run(c.with_calls(calls));
  const Observation want = lab.run(c.with_calls(other));
  std::set<size_t> refusals;
  for (size_t i = rebuilt; i < bound; ++i) refusals.insert(i);
  Verdict all = both(served_but(seen, refusals), want.served());
  if (!all.holds()) return all;
  const std::string how = clears ? "after pool_clear, " : "after pool_init, ";
  for (size_t i = stepped + 1; i <= bound; ++i) {
    const std::string what =
        how + "call " + std::to_string(i + 1) + ", " + std::string(name_of(calls[i].kind));
    all = both(std::move(all), state_kept(what, seen.calls[i], seen.calls[stepped]));
  }
  return both(std::move(all), same_bits(how + "bound again", seen.calls.back(), want.calls.back()));
}

const Registered self{{.claim = "a pool that is made anew unbinds every layer",
                       .applies = applies,
                       .check = check,
                       .kills = {"stale_binding_after_pool_rebuild"}}};

}  // namespace
}  // namespace gdn
