// Claim:   beyond the number that an engine keeps the oldest snapshot goes, and only that one.
// Why:     drafts are taken back to the newest places; a refused rollback changes nothing.
// Bound:   none: equal bits, or NaN in both.
// Origin:  a full store that overwrites its newest entry.
#include <set>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::layer && c.tokens >= 1; }

Verdict check(const Case& c, const Lab& lab) {
  Rng rng = Rng{c.seed}.stream("oldest_snapshot_goes_first");
  const int64_t kept = rng.range(1, 3);
  const int64_t taken = kept + rng.range(1, 2);
  const int64_t layer = rng.range(0, c.shape.num_layers - 1);
  std::vector<Call> calls = setup_calls(c);
  for (int64_t i = 0; i < taken; ++i) {
    calls.push_back(made::step(layer, i % c.tokens));
    calls.push_back(made::snapshot(layer, i));
  }
  calls.push_back(made::step(layer, 0));
  for (int64_t i = 0; i < taken - kept; ++i) calls.push_back(made::rollback(layer, i));
  const size_t first_kept = calls.size();
  for (int64_t i = taken - 1; i >= taken - kept; --i) calls.push_back(made::rollback(layer, i));

  Verdict closed;
  std::optional<Session> session =
      lab.open(c.with_calls(calls), static_cast<int>(kept), {}, &closed);
  if (!session) return closed;
  for (const Call& call : calls) session->call(call);
  const Observation seen = std::move(*session).finish();
  const size_t setup_count = setup_calls(c).size();
  const size_t last_step = setup_count + 2 * static_cast<size_t>(taken);
  std::set<size_t> refusals;
  for (size_t i = last_step + 1; i < first_kept; ++i) refusals.insert(i);
  Verdict all = served_but(seen, refusals);
  if (!all.holds()) return all;
  for (size_t i = last_step + 1; i < calls.size(); ++i) {
    const int64_t id = calls[i].at(Argument::id);
    const size_t left = i < first_kept ? last_step : setup_count + 2 * static_cast<size_t>(id);
    const std::string what = "of " + std::to_string(taken) + " snapshots where " +
                             std::to_string(kept) + " are kept, rollback to number " +
                             std::to_string(id);
    all = both(std::move(all), state_kept(what, seen.calls[i], seen.calls[left]));
  }
  return all;
}

const Registered self{{.claim = "beyond the number that is kept the oldest snapshot goes first",
                       .applies = applies,
                       .check = check,
                       .kills = {"newest_snapshot_dropped"},
                       .one_in = 2}};

}  // namespace
}  // namespace gdn
