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
#include "invariants/harness/remembered.h"
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
// Without replays, a layer that has the same history again must have the same S, HIST and out.
class ModelCheck {
 public:
  // Of the same lab and case; all outlive it.
  ModelCheck(const Lab& lab, const Case& c, Replays& replays) : ModelCheck(lab, c, &replays) {}
  ModelCheck(const Lab& lab, const Case& c) : ModelCheck(lab, c, nullptr) {}

  // After a verdict that does not hold no more calls make sense.
  Verdict call(const Call& call);
  // Closes the engine: nothing is held any more.
  Verdict finish();
  const LifeModel& model() const { return model_; }

 private:
  ModelCheck(const Lab& lab, const Case& c, Replays* replays);

  std::string where() const;  // "call 3, step"
  std::optional<uint64_t> nth_refused(const Call& call) const;
  Verdict judge(const Call& call, const CallLife& life, const CallObserved& seen);
  Verdict judge_given(const Call& call, const CallLife& life, const CallObserved& seen);
  Verdict judge_beside(const Call& call, const CallObserved& seen);
  Verdict judge_export(const Call& call, const CallObserved& seen);
  Verdict judge_buffer(const Call& call, const CallObserved& seen);
  Verdict judge_fed(const Call& call, const CallLife& life, const CallObserved& seen);
  Verdict judge_states(const char* when);
  Verdict judge_tensors(size_t layer);
  // A tensor of a layer that is in this place, against what it must be; `whose` gives the words
  // where it is not.
  template <class Words>
  Verdict judge_tensor(size_t place, Tensor tensor, std::span<const float> got, const Words& whose);
  template <class Words>
  Verdict judge_same_again(uint64_t key, uint64_t hash, const Words& whose);

  const Lab& lab_;
  const Case& case_;
  Replays* const replays_;
  Remembered remembered_;  // in their place
  const ModelCheckSetting setting_;
  LifeModel model_;
  Verdict closed_;
  std::optional<Session> session_;
  size_t calls_made_ = 0;
  CallKind kind_ = CallKind::step;
  std::optional<uint64_t> refused_nth_;  // allocation of this call
  bool made_again_ = false;
  std::vector<Call> recurrences_;  // served so far
  // What is known of each buffer's bytes; -1: nobody has written it.
  std::map<int64_t, std::vector<int>> buffers_;
};

// All calls of a case of subject layer on a fresh engine.
Verdict behaves_as_modelled(const Case& c, const Lab& lab, Replays& replays);
// The same without replays.
Verdict agrees_with_itself(const Case& c, const Lab& lab);

}  // namespace gdn
