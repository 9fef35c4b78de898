// How well triage does, on faults that are known: each mutant, on the first case that kills it.
#pragma once

#include <string>
#include <vector>

#include "ci/exit_status.h"
#include "ci/triage/finding.h"
#include "ci/triage_command.h"

namespace gdn {

struct Scored {
  std::string mutant, op;     // its operator, as it says itself
  std::string killed_by, on;  // invariant and case; empty: nothing kills it on these cases
  Finding finding;
  double seconds = 0;  // from the failing case to the finding

  bool is_equivalent = false;  // no call tells it from a right engine: it is not judged

  bool is_killed() const { return !killed_by.empty(); }
  bool is_operator_right() const;
  // The first cause is the mutant, or a form that says it explains it.
  bool is_cause_right() const;
};

struct Scorecard {
  std::string command, version;
  // They are no forms of an operator and no known faults of a host: a cause is said, not counted.
  bool of_kernels = false;
  std::vector<Scored> rows;
};

// The mutants of the command, built in or edits of the kernels, over the seeds and then by
// invariants, as `matrix --until-killed` goes.
ExitStatus score(const TriageCommand& command, Scorecard& scorecard);

std::string as_text(const Scorecard& scorecard);
std::string as_markdown(const Scorecard& scorecard);
std::string as_json(const Scorecard& scorecard);
// The part of a document that it stands in.
const char* scorecard_part(const TriageCommand& command);

}  // namespace gdn
