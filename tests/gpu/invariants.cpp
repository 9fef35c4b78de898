// Every invariant on every case of the paths, on one engine; cases are shared out over threads.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

#include <fmt/format.h>

#include "invariants/harness/invariant.h"
#include "tests/gpu/commands.h"

namespace gdn::gpu {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> files_of(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (!fs::is_directory(path)) files.push_back(path);
    if (!fs::is_directory(path)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      if (entry.path().extension() == ".case") files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

struct Counts {
  int64_t holds = 0, fails = 0, other = 0, not_applicable = 0;
};

class Judging {
 public:
  explicit Judging(const Options& options)
      : engine_(engine_or_exit(options.engine)), files_(files_of(options.paths)) {
    std::vector<std::jthread> workers;
    for (int64_t i = 0; i < std::max<int64_t>(1, options.threads); ++i) {
      workers.emplace_back([this] { judge_cases(); });
    }
  }

  Findings findings() const {
    Findings found;
    found.state(!files_.empty(), "there are cases", fmt::format("{}", files_.size()));
    FiguresTable table{"Invariants on " + engine_.name,
                       {"invariant", "holds", "fails", "undecided or error", "does not apply"},
                       {}};
    for (const Invariant& invariant : registry()) {
      const auto counted = counts_.find(invariant.name);
      const Counts c = counted == counts_.end() ? Counts{} : counted->second;
      table.rows.push_back({invariant.name, c.holds, c.fails, c.other, c.not_applicable});
      found.state(c.holds > 0 && c.fails == 0 && c.other == 0, invariant.claim.claim,
                  fmt::format("{} cases hold, {} fail, {} are undecided or errors", c.holds,
                              c.fails, c.other));
    }
    found.tables.push_back(std::move(table));
    found.notes = problems_;
    return found;
  }

 private:
  void judge_cases() {
    const Lab lab(engine_);
    for (size_t i = next_++; i < files_.size(); i = next_++) {
      std::ifstream in(files_[i], std::ios::binary);
      std::ostringstream text;
      text << in.rdbuf();
      std::string why;
      const std::optional<Case> c = parse_case(text.str(), &why);
      if (!c) {
        Verdict unread;
        unread.outcome = Outcome::engine_error;
        unread.detail = why;
        note("unreadable case", files_[i], unread);
        continue;
      }
      for (const Invariant& invariant : registry()) {
        note(invariant.name, files_[i], check(invariant, *c, lab));
      }
    }
  }

  void note(const std::string& invariant, const std::string& file, const Verdict& verdict) {
    const std::lock_guard lock(mutex_);
    Counts& counts = counts_[invariant];
    counts.holds += verdict.outcome == Outcome::holds;
    counts.fails += verdict.outcome == Outcome::fails;
    counts.not_applicable += verdict.outcome == Outcome::not_applicable;
    if (verdict.holds() || verdict.outcome == Outcome::not_applicable) return;
    counts.other += verdict.outcome != Outcome::fails;
    problems_.push_back(
        fmt::format("{} on {}: {}: {}", invariant, file, name_of(verdict.outcome), verdict.detail));
  }

  EngineSource engine_;
  std::vector<std::string> files_;
  std::atomic<size_t> next_ = 0;
  std::mutex mutex_;
  std::map<std::string, Counts> counts_;
  std::vector<std::string> problems_;
};

}  // namespace

Findings check_invariants(const Options& options) { return Judging(options).findings(); }

}  // namespace gdn::gpu
