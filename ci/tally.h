// Verdicts counted by outcome, for every command that judges.
#pragma once

#include <cstddef>
#include <string>

#include "ci/exit_status.h"
#include "invariants/harness/verdict.h"

namespace gdn {

struct Tally {
  size_t holds = 0, fails = 0, suspicious = 0, undecided = 0, not_applicable = 0;
  size_t engine_errors = 0;

  void count(Outcome outcome);
  Tally& operator+=(const Tally& other);
  size_t judged() const { return holds + fails + suspicious + undecided + engine_errors; }
};

// "12 hold, 0 fail, ...": what is not green is named only where there is some.
std::string as_text(const Tally& tally);
// exit_fails too where nothing holds.
ExitStatus status_of(const Tally& tally);

}  // namespace gdn
