// What `check` found, as text for a terminal, as Markdown and as JSON. No clock and no number of
// processes stands in it: the same command gives the same report. docs/check.md documents it.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ci/exit_status.h"
#include "ci/tally.h"
#include "invariants/harness/invariant.h"
#include "invariants/harness/ratio_counts.h"

namespace gdn {

inline constexpr int check_report_version = 2;

// Failures that are saved of each invariant on each engine, those of the first cases; the others
// are counted.
inline constexpr size_t failures_saved_max = 3;

// How one invariant came out on one engine.
struct CheckRow {
  std::string invariant, engine;
  Tally tally;  // not_applicable: it applied, and the engine does not serve what it asks for
  double worst_ratio = 0;
  size_t tensors = 0;                     // that were judged
  std::map<Subject, RatioCounts> ratios;  // the worst of each case, by what the case is of
};

struct SavedFailure {
  std::string invariant, engine;
  Verdict verdict;
  std::vector<size_t> indices;  // of the cases that led to it, among those of all shards
  std::string origin;           // "case 17 of the seed", or a file of the corpus
  size_t steps = 0;             // taken to make it smaller
  Case smallest;
  std::string file;
  std::string replay;  // the command
};

struct CheckReport {
  std::string command, version;
  bool smoke = false;
  bool interrupted = false;  // a signal ended it before its last case
  uint64_t seed = 0;
  size_t drawn = 0, corpus = 0;
  std::vector<std::string> engines, absent;
  std::vector<CheckRow> rows;
  std::vector<std::pair<std::string, size_t>> regimes;  // of the cases that were drawn
  size_t drawn_verdicts = 0, drawn_undecided = 0;
  std::vector<std::string> never_applied;  // although it could have been asked
  bool few_cases = false;                  // too few for `never_applied` to be held against anyone
  std::vector<std::string> not_asked;      // "NAME: why"
  std::vector<SavedFailure> failures;
};

// More of the verdicts on drawn cases undecided than this is a warning, and an error of the smoke
// run: the default mix promises less.
inline constexpr double undecided_percent_max = 1;
double undecided_percent(const CheckReport& report);

ExitStatus status_of(const CheckReport& report);
std::string as_text(const CheckReport& report);
std::string as_markdown(const CheckReport& report);
std::string as_json(const CheckReport& report);

}  // namespace gdn
