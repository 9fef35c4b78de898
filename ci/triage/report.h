// Findings for a terminal, for an issue tracker and for programs: one value, three prints.
#pragma once

#include <string>
#include <vector>

#include "ci/exit_status.h"
#include "ci/triage/finding.h"

namespace gdn {

inline constexpr int triage_report_version = 1;

struct TriageReport {
  std::string command, version;
  std::vector<Finding> findings;
  // Of each engine by name, what it says of itself: "dialect deltaproof, contract twin".
  std::map<std::string, std::string> engines;
};

// "delta_rule is wrong since token 1: the error is taken from the state before it decays".
std::string title_of(const Finding& finding);
// The first cause that is named, as a mutant with it is; empty where none is.
std::string cause_of(const Finding& finding);
ExitStatus status_of(const TriageReport& report);
std::string as_text(const TriageReport& report);
std::string as_markdown(const TriageReport& report);
std::string as_json(const TriageReport& report);

}  // namespace gdn
