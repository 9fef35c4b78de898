// Other programs: git, and what builds and tests a commit.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace gdn {

struct RanProgram {
  int status = -1;     // its exit status; -1: it was ended by a signal, or could not be started
  std::string output;  // what it printed, both streams; empty where that went to a log
};

// Arguments as they are, no shell between. With a folder to run in, variables added to its
// environment, and a file to which its output is appended. Where this process is asked to end it
// is ended too, but one that was started after that runs on: it may be what cleans up.
RanProgram run_program(const std::vector<std::string>& arguments, const std::string& folder = "",
                       const std::vector<std::pair<std::string, std::string>>& variables = {},
                       const std::string& log = "");

std::string last_lines_of(const std::string& path);

}  // namespace gdn
