// The memory of the night shift: one SQLite file of nights. docs/history.md says what is in it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ci/night/night.h"

namespace gdn {

struct TrendPoint {
  std::string night, commit, began;
  double p50 = 0, p99 = 0, worst = 0;
  std::string digest;
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
  std::vector<DriftChange> changes;  // alarms first
};

class History {
 public:
  // Opens or makes the file and brings an older schema up to this program's. No value and *why
  // where it is no history, of a newer program, or cannot be written.
  static std::unique_ptr<History> open(const std::string& path, std::string* why);
  virtual ~History() = default;

  // Whole or not at all. A night that is there already (its id) is replaced if the new one is
  // complete or the old one is not, so importing twice changes nothing.
  virtual bool import(const Night& night, std::string* why) = 0;
  // Of the latest nights_max nights, by when they began; the last of them is the latest.
  virtual std::optional<HistoryView> view(size_t nights_max, std::string* why) = 0;
  // Every record of one night, or no value.
  virtual std::optional<Night> night(const std::string& id, std::string* why) = 0;
};

}  // namespace gdn
