// What triage says of one failing case on one engine: which operator, since when, why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ci/triage/fault_form.h"
#include "invariants/harness/lab.h"
#include "invariants/harness/verdict.h"
#include "reference/case.h"

namespace gdn {

// A call that did not do what the model of the calls says, and what would explain it: "HIST of
// layer 0 is as it was before the call".
struct CallFinding {
  size_t call = 0;  // index in the case's calls
  CallKind kind = CallKind::step;
  std::string op;      // "host", or the operator that the call's path gets wrong
  std::string tensor;  // empty where the status, the words or memory is wrong
  int64_t layer = 0;
  Verdict verdict;                     // in `detail` what, where, expected, got
  std::vector<std::string> causes;     // names, as mutants are named; best first
  std::vector<std::string> sentences;  // of each
  // What shows it: the case, or one with other calls; `call` is an index into these.
  Case shown;
  std::string setting;  // "with a second handle open"; empty where nothing is special
};

// The first call of a layer's case at which the engine leaves the model; nothing where it does not.
std::optional<CallFinding> first_wrong_call(const Case& c, const Lab& lab);
// The same by the calls of the case alone, cheap enough to be asked of many: the one above makes
// other calls too where these show nothing that is known.
std::optional<CallFinding> wrong_own_call(const Case& c, const Lab& lab);

struct Finding {
  std::string engine, origin;  // origin: the file or record that it came from
  std::string invariant;       // that fails on `smallest`; empty where none of those asked does
  Case smallest;
  size_t steps = 0;      // from the case that was given to `smallest`
  bool crashed = false;  // the engine ended the process, or had to be ended: see `verdict`
  std::string op;        // an operator, "host", or empty where nothing is out of budget
  std::string tensor;    // of `op`, the first that is wrong
  int64_t token = -1;    // of the sequence; -1 where it is a call that is wrong
  int64_t layer = 0;
  Verdict verdict;
  std::vector<Explanation> explanations;  // of an operator
  std::optional<CallFinding> call;        // of the host
  std::vector<std::string> patterns;      // where the wrong elements lie, in words
  std::vector<std::string> notes;         // what else was found on the way, a sentence each
  std::string first_bad;                  // commit, where a range was searched
  std::string replay;
};

}  // namespace gdn
