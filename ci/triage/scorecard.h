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

  bool is_killed() const { return !killed_by.empty(); }
  bool is_operator_right() const;
  // The first cause is the mutant, or a form that says it explains it.
  bool is_cause_right() const;
};

struct Scorecard {
  std::string command, version;
  std::vector<Scored> rows;
};

// The mutants of the command, over the seeds by what they cost and then by invariants, as `matrix
// --until-killed` goes.
ExitStatus score(const TriageCommand& command, Scorecard& scorecard);

std::string as_text(const Scorecard& scorecard);
std::string as_markdown(const Scorecard& scorecard);
std::string as_json(const Scorecard& scorecard);
inline constexpr const char* scorecard_part = "triage";

}  // namespace gdn
