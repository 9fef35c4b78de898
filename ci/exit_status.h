// The exit statuses of the program and its scripts.
#pragma once

#include <algorithm>
#include <string>

namespace gdn {

enum ExitStatus : int {
  exit_ok = 0,              // judging commands: at least one verdict holds and none fails
  exit_fails = 1,           // something fails, or nothing could be judged
  exit_bad_input = 2,       // bad input or usage; ends at once
  exit_internal = 3,        // an error of this program; ends at once
  exit_engine_failed = 4,   // the engine gave a status, crashed or is lost
  exit_infrastructure = 5,  // no GPU where one was asked for, disk, missing tool
};

// Of several outcomes of one run: 1 before 4 before 5 before 0.
inline ExitStatus combined(ExitStatus one, ExitStatus two) {
  if (one == exit_ok) return two;
  if (two == exit_ok) return one;
  return std::min(one, two);
}

// One line on stderr that says why; the status.
ExitStatus refuse(const std::string& why, ExitStatus status);

}  // namespace gdn
