// The commands of the program: each takes its parsed options and returns an exit status.
#pragma once

#include <string>
#include <vector>

#include "ci/exit_status.h"

namespace gdn {

struct VerifyCommand {
  std::string program = "deltaproof";  // as it was called, for commands that replay
  std::vector<std::string> files;
  std::string engine = "twin";
  std::string dialect;   // empty: what each file says; NAME[,dimension=value]...
  std::string json;      // where to write, or empty
  std::string markdown;  // where to write, or empty
  std::string summary;   // a document whose part `worst error/bound` is replaced, or empty
};
ExitStatus run_verify(const VerifyCommand& command);

ExitStatus run_list();

std::string version_text();

}  // namespace gdn
