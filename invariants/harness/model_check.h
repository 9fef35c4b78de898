// An engine's calls, one by one, against the model of what they must do.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "invariants/harness/lab.h"
#include "invariants/harness/life.h"
#include "invariants/harness/replays.h"
#include "reference/case.h"

namespace gdn {

// How the engine of one check is opened and which allocations are refused on the way; drawn from
// the case's seed, so that a saved case brings it back.
struct ModelCheckSetting {
  int64_t snapshots_max = 0;
  bool refuses_allocations = false;
  bool is_poisoned = false;
};
ModelCheckSetting setting_of(const Case& c);

// One open engine. Every call is judged: served or refused as modelled; a refusal has words and
// changes nothing; S and HIST of every layer, the tensors of a layer just fed, and what a call gave
// have the bits of a replay. Where allocations are refused, a call that fails for it changes
// nothing, and works when made again.
class ModelCheck {
 public:
  // Replays of the same lab and case; all outlive it.
  ModelCheck(const Lab& lab, const Case& c, Replays& replays);

  // After a verdict that does not hold no more calls make sense.
  Verdict call(const Call& call);
  // Closes the engine: nothing is held any more.
  Verdict finish();
  const LifeModel& model() const { return model_; }

 private:
  std::optional<uint64_t> nth_refused(const Call& call) const;
  Verdict judge(const Call& call, const CallLife& life, const CallObserved& seen);
  Verdict judge_given(const Call& call, const CallLife& life, const CallObserved& seen);
  Verdict judge_beside(const Call& call, const CallObserved& seen);
  Verdict judge_export(const Call& call, const CallObserved& seen);
  Verdict judge_buffer(const Call& call, const CallObserved& seen);
  Verdict judge_fed(const Call& call, const CallLife& life, const CallObserved& seen);
  Verdict judge_states(const std::string& when);
  Verdict judge_tensors(size_t layer);

  const Lab& lab_;
  const Case case_;
  Replays& replays_;
  const ModelCheckSetting setting_;
  LifeModel model_;
  Verdict closed_;
  std::optional<Session> session_;
  size_t calls_made_ = 0;
  std::string where_;              // "call 3, step"
  std::vector<Call> recurrences_;  // served so far
  // What is known of each buffer's bytes; -1: nobody has written it.
  std::map<int64_t, std::vector<int>> buffers_;
};

// All calls of a case of subject layer on a fresh engine.
Verdict behaves_as_modelled(const Case& c, const Lab& lab, Replays& replays);

}  // namespace gdn
