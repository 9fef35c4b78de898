// Binary search over builds. One worktree is moved from commit to commit, so that a build starts
// from the one before it.
#include "ci/triage/bisect.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "ci/files.h"
#include "ci/interrupt.h"
#include "ci/triage/run_program.h"
#include "invariants/harness/safetensors.h"

namespace gdn {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// A folder with a worktree in it; both are gone with it.
class Worktree {
 public:
  explicit Worktree(const std::string& repository) : repository_(repository) {
    std::string pattern = (fs::temp_directory_path() / "deltaproof_bisect_XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) folder_ = pattern;
  }
  ~Worktree() {
    if (folder_.empty()) return;
    // An interrupt is no reason to leave it there: git is asked whatever has come.
    if (is_there_) run_program({"git", "-C", repository_, "worktree", "remove", "--force", path()});
    std::error_code error;
    fs::remove_all(folder_, error);
    if (is_there_) run_program({"git", "-C", repository_, "worktree", "prune"});
  }
  Worktree(const Worktree&) = delete;
  Worktree& operator=(const Worktree&) = delete;

  bool has_folder() const { return !folder_.empty(); }
  std::string path() const { return folder_ + "/tree"; }
  std::string log() const { return folder_ + "/log"; }

  bool go_to(const std::string& commit) {
    if (is_there_) {
      return run_program(
                 {"git", "-C", path(), "checkout", "--quiet", "--force", "--detach", commit})
                 .status == 0;
    }
    is_there_ = true;
    return run_program(
               {"git", "-C", repository_, "worktree", "add", "--quiet", "--detach", path(), commit})
               .status == 0;
  }

 private:
  const std::string repository_;
  std::string folder_;
  bool is_there_ = false;
};

enum class Seen : char { good, bad, skipped };
constexpr const char* seen_names[] = {"good", "bad", "cannot be judged"};
constexpr const char* seen_in_words[] = {"is good", "is bad", "cannot be judged"};

class Search {
 public:
  Search(const Bisection& search, Worktree& tree, std::vector<std::string> commits)
      : search_(search), tree_(tree), commits_(std::move(commits)), seen_(commits_.size()) {}

  size_t tried() const { return tried_; }
  std::string commit_in_words(size_t i) const {
    const RanProgram ran = run_program({"git", "-C", search_.repository, "log", "-1",
                                        "--format=%h %s", "--abbrev=12", commits_[i]});
    const std::vector<std::string> lines = lines_of(ran.output);
    return printable_path(lines.empty() ? commits_[i] : lines.front());
  }

  Seen see(size_t i) {
    if (seen_[i]) return *seen_[i];
    ++tried_;
    const Seen seen = judge(commits_[i]);
    seen_[i] = seen;
    if (!asked_to_end()) {
      fmt::print(stderr, "deltaproof: {}: {}\n", commit_in_words(i),
                 seen_names[static_cast<int>(seen)]);
    }
    return seen;
  }

  // `good` and `bad` are places of a good and a later bad commit. Those that may be the first bad.
  std::vector<size_t> between(size_t good, size_t bad) {
    while (bad - good > 1 && !asked_to_end()) {
      const std::optional<size_t> middle = next(good, bad);
      if (!middle) break;
      const Seen seen = see(*middle);
      if (seen == Seen::good) good = *middle;
      if (seen == Seen::bad) bad = *middle;
    }
    std::vector<size_t> candidates;
    for (size_t i = good + 1; i <= bad; ++i) candidates.push_back(i);
    return candidates;
  }

 private:
  // The commit nearest to the middle that has not been tried.
  std::optional<size_t> next(size_t good, size_t bad) const {
    const size_t middle = good + (bad - good) / 2;
    for (size_t off = 0; off < bad - good; ++off) {
      for (const size_t i : {middle + off, middle - std::min(off, middle)}) {
        if (i > good && i < bad && !seen_[i]) return i;
      }
    }
    return std::nullopt;
  }

  Seen judge(const std::string& commit) {
    if (asked_to_end() || !tree_.go_to(commit)) return Seen::skipped;
    const auto shell = [&](const std::string& command) {
      return run_program({"/bin/sh", "-c", command}, tree_.path(), search_.variables, tree_.log())
          .status;
    };
    if (shell(search_.build) != 0 || asked_to_end()) return Seen::skipped;
    const int status = shell(search_.test);
    if (status == 0) return Seen::good;
    return search_.bad_statuses.contains(status) ? Seen::bad : Seen::skipped;
  }

  const Bisection& search_;
  Worktree& tree_;
  const std::vector<std::string> commits_;
  std::vector<std::optional<Seen>> seen_;
  size_t tried_ = 0;
};

// GOOD, then what leads to BAD along first parents, BAD last.
std::vector<std::string> commits_of(const Bisection& search, std::string* why) {
  const size_t dots = search.range.find("..");
  const bool is_range = dots != std::string::npos && dots > 0 && dots + 2 < search.range.size() &&
                        search.range[dots + 2] != '.' && search.range.front() != '-';
  if (!is_range) {
    *why = fmt::format("--bisect: expected GOOD..BAD, got '{}'", printable_path(search.range));
    return {};
  }
  const auto git = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"git", "-C", search.repository});
    return run_program(arguments);
  };
  const RanProgram good =
      git({"rev-parse", "--verify", "--quiet", search.range.substr(0, dots) + "^{commit}"});
  const RanProgram list =
      git({"rev-list", "--reverse", "--first-parent", "--end-of-options", search.range});
  std::vector<std::string> commits = lines_of(list.output);
  if (good.status != 0 || list.status != 0 || commits.empty()) {
    *why = fmt::format("--bisect: git finds no commits in {} of {}", printable_path(search.range),
                       printable_path(search.repository));
    return {};
  }
  commits.insert(commits.begin(), lines_of(good.output).front());
  return commits;
}

}  // namespace

Bisected bisect(const Bisection& search) {
  Bisected found;
  std::string why;
  const std::vector<std::string> commits = commits_of(search, &why);
  if (commits.empty()) {
    found.status = refuse(why, exit_bad_input);
    return found;
  }
  Worktree tree(search.repository);
  if (!tree.has_folder()) {
    found.status = refuse("no folder can be made for a worktree", exit_infrastructure);
    return found;
  }
  Search over(search, tree, commits);
  const size_t last = commits.size() - 1;
  for (const auto& [at, wanted] : {std::pair{last, Seen::bad}, std::pair{size_t{0}, Seen::good}}) {
    const Seen seen = over.see(at);
    if (seen == wanted || asked_to_end()) continue;
    found.status = refuse(
        fmt::format("--bisect: {} was expected to be {}, and {}; the last lines of its build and "
                    "test:\n{}",
                    over.commit_in_words(at), seen_names[static_cast<int>(wanted)],
                    seen_in_words[static_cast<int>(seen)], last_lines_of(tree.log())),
        exit_bad_input);
    return found;
  }
  const std::vector<size_t> candidates = over.between(0, last);
  found.tried = over.tried();
  if (asked_to_end()) {
    found.status = refuse("the search for a commit was interrupted", exit_infrastructure);
    return found;
  }
  for (const size_t i : candidates) found.bad.push_back(over.commit_in_words(i));
  return found;
}

}  // namespace gdn
