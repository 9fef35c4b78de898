// Known faults of what an engine keeps between calls, by what they look like from outside. A new
// cause is one file-local object in ci/triage/causes_<what it is about>.cpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ci/triage/call_story.h"
#include "ci/triage/call_truth.h"
#include "ci/triage/departure.h"

namespace gdn {

// All that a cause may ask about a departure.
class Scene {
 public:
  Scene(const Trace& trace_seen, const Departure& departure, const Lab& lab_used, CallTruth& known);

  const Trace& trace;
  const Departure& at;
  const Lab& lab;
  CallTruth& truth;
  const CallSeen& now;
  const Call& call;
  const LifeModel before, after;  // the call

  bool is(CallKind kind) const { return call.kind == kind; }
  bool is(Departure::What what) const { return at.what == what; }
  bool feeds() const;
  int64_t layer() const { return call.at(Argument::layer); }
  // Is the call about one layer, and this is another?
  bool is_other(int64_t layer) const;

  // A state after the call, and before it (zero before the first).
  const std::vector<float>& got(int64_t layer, Tensor tensor) const;
  const std::vector<float>& had(int64_t layer, Tensor tensor) const;
  // Of a wrong state: it is as before the call, or zero.
  bool kept(int64_t layer, Tensor tensor) const;
  bool zeroed(int64_t layer, Tensor tensor) const;
  // All states that are wrong lie in the layer of the call; both, or this one alone.
  bool own_layer_alone() const;
  bool wrong_alone(Tensor tensor) const;
  // The state of a layer is what the model says of these tokens.
  bool follows(const std::vector<Fed>& fed, size_t place, int64_t layer,
               std::initializer_list<Tensor> tensors) const;

  // The last call before this one for which something is so; npos: none.
  static constexpr size_t npos = SIZE_MAX;
  size_t last(const std::function<bool(const CallSeen&)>& is_so) const;
  // The last refusal before this call, of whatever kind.
  size_t last_refusal() const;
  // Calls in place of this one, where no allocation was refused before.
  std::vector<CallObserved> tried(const std::vector<Call>& more) const;

 private:
  std::vector<float> no_state_[2];
};

struct HostCause {
  const char* name = "";      // the bug, as a mutant with it is named
  const char* sentence = "";  // "reset keeps the history"
  bool (*is_it)(const Scene& scene) = nullptr;
  std::vector<std::string> explains = {};  // mutants that it is the cause of, beside its namesake
  // What only describes the symptom comes after what names the bug.
  bool is_symptom = false;
};

class RegisteredCause {
 public:
  explicit RegisteredCause(HostCause cause);
};
const std::vector<HostCause>& host_causes();  // sorted by name

}  // namespace gdn
