// What `verify` found, as text for a terminal, as Markdown and as JSON: every figure that the table
// shows stands in the JSON too. docs/report.md documents the JSON.
#pragma once

#include <string>
#include <vector>

#include "ci/exit_status.h"
#include "ci/tally.h"
#include "invariants/harness/verify.h"

namespace gdn {

inline constexpr int report_version = 2;

// Over all rows of all files.
Tally tally_of(const std::vector<VerifyReport>& reports);
// The tally as text, and whether anything of the engine was found to hold.
std::string counted(const std::vector<VerifyReport>& reports);
// exit_fails too where nothing of the engine could be judged: what captures hold is no word for it.
ExitStatus status_of(const std::vector<VerifyReport>& reports);

// One file: what it is, one table, and below it a line for each row that does not hold. `command`
// replays the file.
std::string as_text(const VerifyReport& report, const std::string& command);

struct RunFacts {
  std::string command;  // replays the whole run
  std::string engine;
  std::string version;
  double seconds = 0;
  bool complete = false;  // every file was judged
  std::string ended;      // why not, as far as is known when the report is written
};
std::string as_markdown(const std::vector<VerifyReport>& reports, const RunFacts& facts);
std::string as_json(const std::vector<VerifyReport>& reports, const RunFacts& facts);

// The worst error/bound by operator and tensor over all files, a table in Markdown, for the part of
// a document between the markers `<!-- worst error/bound: begin -->` and `... end -->`.
std::string worst_by_operator(const std::vector<VerifyReport>& reports);

}  // namespace gdn
