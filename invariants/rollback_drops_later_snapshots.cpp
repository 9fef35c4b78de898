// Claim:   a rollback drops the snapshots taken after its own, and keeps its own and those before.
// Why:     what was drafted after that place never was; no way leads back to it.
// Bound:   none: a refusal that changes nothing; equal bits, or NaN in both.
// Origin:  a rollback to a branch that had been taken back, which brings it to life again.
#include <algorithm>
#include <set>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::layer && c.tokens >= 1; }

Verdict check(const Case& c, const Lab& lab) {
  Rng rng = Rng{c.seed}.stream("rollback_drops_later_snapshots");
  const int64_t layer = rng.range(0, c.shape.num_layers - 1);
  const int64_t taken = rng.range(2, 4);
  const int64_t target = rng.range(0, taken - 2);
  std::vector<Call> calls = setup_calls(c);
  const size_t setup_count = calls.size();
  for (int64_t i = 0; i < taken; ++i) {
    calls.push_back(made::step(layer, i % c.tokens));
    calls.push_back(made::snapshot(rng.range(0, 1) == 0 ? layer : -1, i));
    calls.back().given[Argument::read_layer] = layer;
  }
  calls.push_back(made::step(layer, 0));
  const size_t begin = calls.size();
  calls.push_back(made::rollback(layer, target));
  for (int64_t i = target + 1; i < taken; ++i) calls.push_back(made::rollback(layer, i));
  calls.push_back(made::step(layer, c.tokens - 1));
  for (int64_t i = target; i >= 0; --i) calls.push_back(made::rollback(layer, i));
  const Observation seen = lab.run(c.with_calls(calls));
  std::set<size_t> refusals;
  for (size_t i = begin + 1; calls[i].kind == CallKind::rollback; ++i) refusals.insert(i);
  Verdict all = served_but(seen, refusals);
  if (!all.holds()) return all;
  for (size_t i = begin; i < calls.size(); ++i) {
    if (calls[i].kind != CallKind::rollback) continue;
    const int64_t id = calls[i].at(Argument::id);
    const std::string what = "call " + std::to_string(i + 1) + ", rollback to snapshot " +
                             std::to_string(id) + " after one to " + std::to_string(target);
    const auto place = static_cast<size_t>(std::min(id, target));
    all =
        both(std::move(all), state_kept(what, seen.calls[i], seen.calls[setup_count + 2 * place]));
  }
  return all;
}

const Registered self{{.claim = "a rollback drops later snapshots, and not its own",
                       .applies = applies,
                       .check = check,
                       .kills = {"rollback_keeps_later_snapshots"},
                       .one_in = 2}};

}  // namespace
}  // namespace gdn
