// `deltaproof history` as the program parses it.
#pragma once

#include <string>
#include <vector>

#include "ci/exit_status.h"

namespace gdn {

struct HistoryCommand {
  std::string db = "out/history.sqlite";
  std::vector<std::string> files;  // import
  bool json = false;               // list, drift
  size_t keep = 0;                 // prune; 0: by `before`
  std::string before;
  std::string night;  // export; empty: the latest
  bool all = false;
};
ExitStatus run_history_import(const HistoryCommand& command);
ExitStatus run_history_list(const HistoryCommand& command);
ExitStatus run_history_prune(const HistoryCommand& command);
ExitStatus run_history_export(const HistoryCommand& command);
ExitStatus run_history_drift(const HistoryCommand& command);

}  // namespace gdn
