// Causes: snapshots, and what rollback makes of them.
#include <algorithm>

#include "ci/triage/host_cause.h"

namespace gdn {
namespace {

using A = Argument;
using K = CallKind;
using What = Departure::What;

bool rolled_back(const Scene& s) {
  return s.is(What::numbers) && s.is(K::rollback) && s.now.seen.ok() && !s.at.wrong.empty();
}

bool keeps(const Scene& s, Tensor tensor) {
  return rolled_back(s) && s.wrong_alone(tensor) &&
         std::all_of(s.at.wrong.begin(), s.at.wrong.end(),
                     [&](const auto& of) { return s.kept(of.first, tensor); });
}
const RegisteredCause history{{.name = "rollback_keeps_history",
                               .sentence = "rollback restores S, HIST stays as it was",
                               .is_it = [](const Scene& s) { return keeps(s, Tensor::HIST); }}};
const RegisteredCause state{{.name = "rollback_keeps_state",
                             .sentence = "rollback restores HIST, S stays as it was",
                             .is_it = [](const Scene& s) { return keeps(s, Tensor::S); }}};

// The call that took the snapshot which this rollback names; npos: none.
size_t taken_at(const Scene& s) {
  return s.last([&](const CallSeen& c) {
    return c.asked.call.kind == K::snapshot && c.seen.ok() &&
           c.asked.call.at(A::id) == s.call.at(A::id);
  });
}

// Every wrong layer is as it was when the snapshot was taken.
bool as_taken(const Scene& s, size_t taken) {
  return std::all_of(s.at.wrong.begin(), s.at.wrong.end(), [&](const auto& of) {
    const StateSeen& then = s.trace.calls[taken].states[static_cast<size_t>(of.first)];
    return equal_bits(s.got(of.first, Tensor::S), *then.S) &&
           equal_bits(s.got(of.first, Tensor::HIST), *then.HIST);
  });
}

bool is_of_all(const Scene& s) {
  const size_t taken = taken_at(s);
  if (!rolled_back(s) || taken == Scene::npos) return false;
  const int64_t own = s.trace.calls[taken].asked.call.at(A::layer);
  return own >= 0 && !s.at.wrong.contains(own) && as_taken(s, taken);
}
const RegisteredCause of_all{
    {.name = "snapshot_of_one_layer_restores_all",
     .sentence = "a rollback to one layer's snapshot takes other layers back too",
     .is_it = is_of_all}};

bool is_zeroed(const Scene& s) {
  return s.is(What::numbers) && s.is(K::rollback) && !s.now.seen.ok() && !s.at.wrong.empty() &&
         std::all_of(s.at.wrong.begin(), s.at.wrong.end(), [&](const auto& of) {
           return s.zeroed(of.first, Tensor::S) && s.zeroed(of.first, Tensor::HIST);
         });
}
const RegisteredCause zeroed{{.name = "rollback_to_nothing_zeroes",
                              .sentence = "a refused rollback has zeroed the states",
                              .is_it = is_zeroed}};

// The call after which the model no longer holds the snapshot that this call names; npos: it was
// never there, or still is.
size_t dropped_at(const Scene& s) {
  const size_t taken = taken_at(s);
  if (taken == Scene::npos) return taken;
  for (size_t i = taken; i < s.at.call; ++i) {
    if (!s.trace.after(i).snapshot_ids().contains(s.call.at(A::id))) return i;
  }
  return Scene::npos;
}

// A rollback is served to a snapshot that a call of this kind had dropped.
bool outlives(const Scene& s, K kind) {
  if (!s.is(What::served) || !s.is(K::rollback)) return false;
  const size_t dropped = dropped_at(s);
  return dropped != Scene::npos && s.trace.calls[dropped].asked.call.kind == kind;
}
// Where there is one after that, its state is what a name that was given again leads to.
bool is_anothers(const Scene& s) {
  const size_t dropped = dropped_at(s);
  if (dropped == Scene::npos || as_taken(s, taken_at(s))) return false;
  const size_t later =
      s.last([&](const CallSeen& c) { return c.asked.call.kind == K::snapshot && c.seen.ok(); });
  return later != Scene::npos && later > dropped;
}
const RegisteredCause later{
    {.name = "rollback_keeps_later_snapshots",
     .sentence = "a rollback leaves the snapshots that were taken after its own",
     .is_it = [](const Scene& s) { return outlives(s, K::rollback) && !is_anothers(s); }}};
const RegisteredCause again{
    {.name = "snapshot_names_given_again",
     .sentence = "a dropped snapshot's name leads to a snapshot that was taken later",
     .is_it = [](const Scene& s) {
       return s.is(What::served) && s.is(K::rollback) && is_anothers(s);
     }}};
const RegisteredCause imported{
    {.name = "import_keeps_snapshots",
     .sentence = "the snapshots of a layer outlive an import",
     .is_it = [](const Scene& s) { return outlives(s, K::state_import); }}};
const RegisteredCause after_reset{{.name = "reset_keeps_snapshots",
                                   .sentence = "the snapshots of a layer outlive its reset",
                                   .is_it = [](const Scene& s) { return outlives(s, K::reset); }}};
const RegisteredCause after_unload{
    {.name = "unload_keeps_snapshots",
     .sentence = "the snapshots of a layer outlive its unload",
     .is_it = [](const Scene& s) { return outlives(s, K::unload_layer); }}};

// A rollback is refused although its snapshot is held.
bool is_missing(const Scene& s) {
  return s.is(What::not_served) && s.is(K::rollback) && taken_at(s) != Scene::npos;
}

bool is_newest_dropped(const Scene& s) {
  if (!is_missing(s)) return false;
  int64_t oldest = -1;
  int64_t count = 0;
  for (size_t i = 0; i < s.at.call; ++i) {
    const CallSeen& c = s.trace.calls[i];
    if (c.asked.call.kind != K::snapshot || !c.seen.ok()) continue;
    if (++count == 1) oldest = c.asked.call.at(A::id);
  }
  if (count <= s.trace.story.setting.snapshots_max) return false;
  const std::vector<CallObserved> seen = s.tried({call_of(K::rollback, {{A::id, oldest}})});
  return !seen.empty() && seen[0].ok();
}
const RegisteredCause newest{
    {.name = "newest_snapshot_dropped",
     .sentence = "beyond the limit a later snapshot goes, the oldest can still be rolled back to",
     .is_it = is_newest_dropped}};

bool is_dropped_by_failure(const Scene& s) {
  const size_t failed = s.last([](const CallSeen& c) {
    return c.asked.call.kind == K::snapshot && c.seen.status == GDN_OUT_OF_MEMORY;
  });
  if (!is_missing(s) || failed == Scene::npos || failed < taken_at(s)) return false;
  const std::vector<CallObserved> seen = s.tried({s.call});
  return !seen.empty() && seen[0].ok();
}
const RegisteredCause failed{
    {.name = "failed_snapshot_drops_oldest",
     .sentence = "a snapshot whose allocation failed has dropped an older one",
     .is_it = is_dropped_by_failure}};

bool is_dropped_by_unload(const Scene& s) {
  const size_t unloaded =
      s.last([](const CallSeen& c) { return c.asked.call.kind == K::unload_layer && c.seen.ok(); });
  if (!is_missing(s) || unloaded == Scene::npos || unloaded < taken_at(s)) return false;
  const std::vector<CallObserved> seen = s.tried({s.call});
  return !seen.empty() && !seen[0].ok();
}
const RegisteredCause unloaded{
    {.name = "unload_drops_every_snapshot",
     .sentence = "unloading a layer has dropped a snapshot that does not hold it",
     .is_it = is_dropped_by_unload}};

}  // namespace
}  // namespace gdn
