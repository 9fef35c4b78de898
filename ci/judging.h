// Cases on engines by invariants, shared out over processes: what check, replay and matrix have in
// common. What comes out depends neither on how many processes there are nor on which was first.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ci/exit_status.h"
#include "ci/supervised.h"
#include "invariants/harness/engine.h"
#include "invariants/harness/invariant.h"
#include "reference/case.h"

namespace gdn {

struct Answer {
  size_t engine = 0, invariant = 0;  // indices into Judging
  Verdict verdict;
  bool crashed = false;  // the engine ended the process: engine_error, in `detail` how
  bool hangs = false;    // or a call of it did not come back: it is asked no more
};

struct Judging {
  std::vector<EngineSource> engines;
  std::vector<const Invariant*> invariants;
  int processes = 1;
  // Case `index`: a pure function.
  std::function<Case(size_t index)> case_at;
  // Is the invariant asked about it, on engines[engine]?
  std::function<bool(size_t index, const Case& c, const Invariant& invariant, size_t engine)> asks;
};

// What was judged of each case from 0 on, in this order, engine by engine: invariants that apply,
// not_applicable where the engine does not serve what they ask for. Ends at `cases`, or before the
// first for which `stop` says so. Returns how many were judged.
size_t judge(const Judging& judging, size_t cases, const std::function<bool(size_t index)>& stop,
             const std::function<void(size_t index, const std::vector<Answer>&)>& take);

// The same verdict as judge gives, in this process: an exception is an engine_error.
Verdict judge_one(const Invariant& invariant, const Case& c, const Lab& lab);

// A case that fails or crashes, and the smallest near it that does so too.
struct Failing {
  Case found;
  size_t engine = 0, invariant = 0;
  bool crashed = false;
  Verdict verdict;  // of `smallest`, once it is there
  Case smallest;
  size_t steps = 0;  // from `found` to `smallest`
  // Engines on which a smaller case has to hold: none of its elements may be undecided there.
  std::vector<size_t> holding = {};
  bool hangs = false;  // it stays as it was found: each smaller one could take as long
};
void make_small(const Judging& judging, std::vector<Failing>& failing);

// Engines by name, in order. Of one that cannot run here the words why not: which end the run,
// unless `skip_absent`, where they are kept in `absent`. exit_ok, or what is wrong with the names,
// which `named_by` gave.
struct EnginesHere {
  std::vector<EngineSource> engines;
  std::vector<std::string> absent;  // "cuda: no device"
};
ExitStatus find_engines(const std::vector<std::string>& names, bool skip_absent, EnginesHere& found,
                        const std::string& named_by = "--engine");

// One engine for a run whose figures go into a file, which must be writable and not the engine.
ExitStatus find_engine_for(const std::string& engine, const std::string& json, Doing& now,
                           EnginesHere& found);

// All of the registry if there are no names; exit_bad_input and a line where one is not in it.
ExitStatus find_invariants(const std::vector<std::string>& names,
                           std::vector<const Invariant*>& found,
                           const std::string& named_by = "--invariant");

// The calls of the interface that an engine does not have.
std::vector<std::string> calls_lacked(const Description& description);

// Empty, or why an engine of that name cannot run here. Asked in a process of its own: a device
// that was opened before a fork is of no use after it.
std::string why_not_here(const EngineSource& engine);

}  // namespace gdn
