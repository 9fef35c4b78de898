// Calls made on an open engine, what was seen of each, and what the model says of it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "invariants/harness/lab.h"
#include "invariants/harness/life.h"
#include "invariants/harness/refused.h"
#include "reference/case.h"

namespace gdn {

// How an engine is opened for a list of calls, and what goes on beside it.
struct CallSetting {
  std::string words;  // "with a second handle open"; empty where there is nothing special
  int snapshots_max = 64;
  RunOptions options;
  // Of each call the first allocation is refused, then the second, until it gets through.
  bool refuses_allocations = false;
  std::optional<Case> beside;  // whose calls another handle makes in turn
};

// Calls that may show a fault. Of those that the model refuses, WrongCall says how they should be.
struct Story {
  std::string name;
  Case bare;
  std::vector<WrongCall> calls;
  CallSetting setting;

  void add(const std::vector<Call>& more);
  Case whole() const;  // as a case that can be saved
};

// S and HIST of a layer; the same object where nothing changed.
struct StateSeen {
  std::shared_ptr<const std::vector<float>> S, HIST;
  const std::vector<float>& at(Tensor tensor) const { return tensor == Tensor::S ? *S : *HIST; }
};

struct CallSeen {
  WrongCall asked;           // its first token resolved
  uint64_t refused_nth = 0;  // allocation; 0: none
  CallObserved seen;
  CallLife life;
  bool is_undone = false;  // it failed for want of memory, as it may
  std::string misconduct;  // what the Lab saw of it first
  std::vector<StateSeen> states;
  std::optional<std::pair<int64_t, Tensor>> unstable;  // a second read gave other bits
  std::map<int64_t, TokenTensors> tensors;             // of the layers that it fed
  std::vector<size_t> places;                          // of the layers after it
};

class Trace {
 public:
  // Makes the calls of the story, which outlives it.
  Trace(const Story& story, const Lab& lab);
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  bool was_run() const { return was_run_; }
  // The model before a call and after it.
  LifeModel before(size_t call) const;
  LifeModel after(size_t call) const { return before(call + 1); }

  const Story& story;
  std::vector<CallSeen> calls;
  std::vector<Fed> fed;  // all that was
  Observation end;       // what is held after close

 private:
  void make(const WrongCall& asked, uint64_t refuse_nth, Session& session);
  void look(CallSeen& now, Session& session) const;

  LifeModel model_;
  bool was_run_ = false;
};

// What further calls give where the first `count` of a story were made before.
std::vector<CallObserved> tried(const Story& story, const Lab& lab, size_t count,
                                const std::vector<Call>& more);
// Of its first `count` calls alone: is memory held after close, or too much released?
Observation closed_after(const Story& story, const Lab& lab, size_t count);

}  // namespace gdn
