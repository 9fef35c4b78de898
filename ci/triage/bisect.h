// The first commit of a range on which a case fails: built and judged in a worktree of its own.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "ci/exit_status.h"

namespace gdn {

struct Bisection {
  std::string repository = ".";  // a folder of the git tree
  std::string range;             // GOOD..BAD
  std::string build, test;       // for the shell, run in the root of a worktree
  // Added to the environment of both: what the case is.
  std::vector<std::pair<std::string, std::string>> variables;
  std::set<int> bad_statuses = {1};  // of `test`; 0 is good, any other says nothing of the commit
};

struct Bisected {
  ExitStatus status = exit_ok;   // exit_bad_input, exit_infrastructure: a line was printed
  std::vector<std::string> bad;  // "1a2b3c4d5e6f what it says": the first bad one; several where
                                 // those between could not be built or judged
  size_t tried = 0;              // commits
};

// Binary search over the first parents of the range, its ends included. Leaves no worktree behind,
// however it ends.
Bisected bisect(const Bisection& search);

}  // namespace gdn
