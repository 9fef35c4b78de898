// The memory of the night shift: one SQLite file of nights. docs/history.md says what is in it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ci/exit_status.h"
#include "ci/night/night.h"

namespace gdn {

struct TrendPoint {
  std::string night, commit, began;
  double p50 = 0, p99 = 0, worst = 0;
  std::string digest;
  size_t samples = 0, undecided = 0;
  bool complete = true;  // the night: of others nothing is said of what is not there
};
// An operator's tensor over the nights that judged it, oldest first. One panel version only.
struct Trend {
  std::string panel, engine, op, tensor;
  std::vector<TrendPoint> points;
};

struct BenchPoint {
  std::string night, commit, began;
  double median = 0, fastest = 0, slowest = 0;
};
struct BenchTrend {
  std::string machine, name, unit;
  std::vector<BenchPoint> points;
  // The smallest step of the median, as a factor above 1, that the spread of the stored nights lets
  // anyone see, with the odds of docs/history.md; 0 where there are too few nights to say.
  double detectable_step = 0;
  size_t detected_in = 0;  // nights after such a step, until it is an alarm
};

// A group of findings over all nights.
struct KnownFinding {
  std::string fingerprint;
  std::string state;  // new: in the latest night for the first time; known; fixed: not in the
                      // latest, which asked the same of the same engine
  std::string first_night, first_commit, first_began;
  std::string last_night, last_commit, last_began;
  std::string last_good_commit;  // of the night before the first that asked the same; or empty
  size_t nights = 0;             // that have it
  bool is_back = false;          // it was fixed before the last night that has it
  NightFinding latest;
};

// A figure of the latest night that is not what it was in the one before that had it.
struct DriftChange {
  std::string kind;                       // "tensor" or "bench"
  std::string panel, engine, op, tensor;  // of a tensor
  std::string machine, name, unit;        // of a bench
  double before = 0, after = 0;           // p99, or the median
  double worst_before = 0, worst_after = 0;
  bool alarm = false;
  std::string since_commit, good_commit;  // the first night with the new value, the last without
  std::string words;  // one line: what moved, by how much, since when, and whether it is an alarm
};

struct HistoryView {
  std::vector<Night> nights;  // headers, stages and gaps alone, oldest first
  std::vector<Trend> trends;
  std::vector<BenchTrend> benches;
  std::vector<KnownFinding> findings;
  std::vector<DriftChange> changes;  // of the latest night, alarms first
};

// What importing a night did.
enum class Stored { added, replaced, unchanged, pruned_before };

// The nights to remove: all but the latest `keep`, or those that began before a time.
struct PruneRule {
  size_t keep = 0;     // with `before` empty
  std::string before;  // 2026-11-30, or with a time as in Night::began
};
struct PrunedNight {
  std::string id, commit, began;
};

// A night and a change that shows in it.
struct DatedChange {
  std::string night;
  DriftChange change;
};

class History {
 public:
  // Opens or makes the file and brings an older schema up to this program's. No value and *why
  // where it is no history, of a newer program, or cannot be written. In all of these functions
  // *status, if asked for, says whose fault it is: bad input, infrastructure, or internal.
  static std::unique_ptr<History> open(const std::string& path, std::string* why,
                                       ExitStatus* status = nullptr);
  virtual ~History() = default;

  // Whole or not at all. A night that is there already (its id) is replaced if the new one is
  // complete or the old one is not, so importing twice changes nothing. Shards are refused.
  bool import(const Night& night, std::string* why) { return store(night, why).has_value(); }
  // The same, and what was done. A night that was pruned stays so.
  virtual std::optional<Stored> store(const Night& night, std::string* why,
                                      ExitStatus* status = nullptr) = 0;
  // What was removed. Who found what first, when and on which commit is kept.
  virtual std::optional<std::vector<PrunedNight>> prune(const PruneRule& rule, std::string* why,
                                                        ExitStatus* status = nullptr) = 0;
  // Of the latest nights_max nights, by when they began; the last of them is the latest. Findings
  // and changes are by all nights that are stored.
  virtual std::optional<HistoryView> view(size_t nights_max, std::string* why,
                                          ExitStatus* status = nullptr) = 0;
  // How many groups of findings a night has.
  virtual std::optional<size_t> findings_of(const std::string& id, std::string* why,
                                            ExitStatus* status = nullptr) = 0;
  // Every record of one night, or no value.
  virtual std::optional<Night> night(const std::string& id, std::string* why,
                                     ExitStatus* status = nullptr) = 0;
};

}  // namespace gdn
