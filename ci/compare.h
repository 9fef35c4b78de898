// Two runs side by side: the distributions of error/bound that their reports hold, matched by
// operator. docs/compare.md says what is compared and what the test presumes.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ci/compare_statistics.h"
#include "ci/exit_status.h"

namespace gdn {

// What a distribution is of. `what` is a tensor, or an invariant; `scope` is empty of an invariant.
struct RatioKey {
  std::string op, what, scope, source;
  friend auto operator<=>(const RatioKey&, const RatioKey&) = default;
};

// A report as far as it is compared.
struct ReadRun {
  std::string path, format, about;
  std::vector<std::string> notes;  // what it does not hold
  // By capture, and one part "" of a report of check.
  struct Part {
    std::map<RatioKey, RatioCounts> ratios;
    std::map<RatioKey, size_t> fails;  // verdicts; of check without `op`
  };
  std::map<std::string, Part> parts;
};
// Nothing, and *why, where it is no report, none of this version, or not whole.
std::optional<ReadRun> read_run(const std::string& path, std::string* why);

enum class Change { same, worse, better, both, untested };
const char* name_of(Change change);

struct ComparedRow {
  RatioKey key;
  RatioCounts before, after;
  MovedBoth moved;
  double p_up = 1, p_down = 1;  // by Holm's correction over all rows that are tested
  Change change = Change::untested;
};

struct Comparison {
  std::string before, after, about_before, about_after;
  double level = 0;
  std::vector<ComparedRow> rows;
  size_t tests = 0;
  std::vector<std::string> failing_now, failing_no_more;  // verdicts, whatever their distribution
  std::vector<std::string> notes;                         // what could not be matched
};
// Nothing, and *why, where they have nothing in common.
std::optional<Comparison> compare(const ReadRun& before, const ReadRun& after, double level,
                                  std::string* why);

// exit_fails where something moved for the worse.
ExitStatus status_of(const Comparison& comparison);
std::string as_text(const Comparison& comparison);
std::string as_markdown(const Comparison& comparison);
std::string as_json(const Comparison& comparison);

}  // namespace gdn
