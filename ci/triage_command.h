// `deltaproof triage` as the program parses it.
#pragma once

#include <string>
#include <vector>

#include "ci/exit_status.h"

namespace gdn {

struct TriageCommand {
  std::string program = "deltaproof";
  std::vector<std::string> paths;       // cases, records, reports of check, folders of failures
  std::vector<std::string> engines;     // empty: those that the paths name; else twin and simt
  std::vector<std::string> invariants;  // at most one; empty: that which the path names
  std::string out = "out";              // where smallest cases are saved
  int jobs = 0;
  int seconds = 300;           // of processor time for a case, before its engine counts as hanging
  std::string json, markdown;  // where to write, or empty

  std::string bisect;       // GOOD..BAD; empty: no search
  std::string repository;   // empty: the tree of the working folder
  std::string build, test;  // commands; empty: the project's own

  bool mutants = false;                // the table in place of cases
  bool kernel_mutants = false;         // of those that are edits of the kernels
  std::vector<std::string> of_mutant;  // these alone; empty: all
  std::string seeds;                   // a folder of cases; empty: the tree's own
  std::string summary;                 // a document whose part `triage` is replaced, or empty
};
ExitStatus run_triage(const TriageCommand& command);

}  // namespace gdn
