// What triage is asked about: case files, the records and the report that `check` writes, and the
// folder that it saves failures in.
#pragma once

#include <string>
#include <vector>

#include "ci/exit_status.h"
#include "reference/case.h"

namespace gdn {

struct FailingCase {
  Case c;
  std::string engine, invariant;  // empty where nobody says
  std::string origin;
};

// Adds those of a path, each pair of engine and invariant of a case once; exit_bad_input and a line
// where there is nothing to read.
ExitStatus read_questions(const std::string& path, std::vector<FailingCase>& failing);

}  // namespace gdn
