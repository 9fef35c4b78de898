// What a case shows: of all claims that fail on it the one that says most of the cause, the
// smallest case near it, and the operator to look at.
#pragma once

#include <string>
#include <vector>

#include "ci/judging.h"

namespace gdn {

struct Fault {
  const Invariant* invariant = nullptr;
  std::vector<size_t> failing;  // indices into the engines: it fails there, or they end in an error
  std::vector<size_t> holding;
  Verdict verdict;  // on the first that fails
  bool crashed = false;
  bool hangs = false;  // it is made no smaller, and nothing more is asked of the engine
  // Empty, or why it can be no regression: an engine of ours on which it neither holds nor fails.
  std::string why_unfit;

  Case smallest;
  size_t steps = 0;  // from the case as it was given
  std::string op;    // an operator's name, or host
};

// What the engines of a Judging were asked; the first `ours` of them are built in, and have to hold
// on a regression.
struct Asked {
  const Judging& judging;
  size_t ours = 0;
};

// What fails of the answers to one case, claim by claim in the order of the registry.
std::vector<Fault> faults_of(const Asked& asked, const std::vector<Answer>& answers);

// The fault to file the case under: a failure before an engine's error; then an operator's local
// claim, which names where to look; then the one that the smallest case shows; then the first by
// name. None of `faults` may be unfit, and there is at least one. Runs what it needs in processes
// of their own.
Fault fault_that_says_most(const Asked& asked, const Case& c, std::vector<Fault> faults);

}  // namespace gdn
