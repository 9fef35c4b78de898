// `deltaproof corpus minimise`: of the fuzzers' inputs, those that are worth keeping. A folder is
// replaced whole, once the one that takes its place is complete.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include "ci/corpus_commands.h"
#include "ci/corpus_files.h"
#include "ci/escaped.h"
#include "ci/files.h"
#include "ci/supervised.h"
#include "invariants/harness/safetensors.h"

namespace gdn {
namespace {

namespace fs = std::filesystem;

// Where the program of a target is, if it is one of libFuzzer; else why it cannot be used.
struct Fuzzer {
  std::string path, why_not;
};
Fuzzer fuzzer_of(const std::string& binaries, const std::string& target) {
  const std::string path = fs::absolute(fs::path(binaries) / target);
  if (access(path.c_str(), X_OK) != 0) return {"", path + ": no such program"};
  // The program that replays has the same name, and takes a merge for nothing to do.
  const Output help = output_of(shell_word(path) + " -help=1 2>&1");
  if (help.text.find("set_cover_merge") != std::string::npos) return {path, ""};
  return {"", path + ": not a libFuzzer program"};
}

// Folders beside the target's own, which a later run clears away.
struct Beside {
  fs::path own, staged, merged, crashes, replaced;
  explicit Beside(const fs::path& folder)
      : own(folder),
        staged(hidden(".staged")),
        merged(hidden(".merged")),
        crashes(hidden(".crashes")),
        replaced(hidden(".replaced")) {}

  void clear() const {
    // The run before was interrupted between two renames.
    if (!fs::exists(own) && fs::exists(replaced)) fs::rename(replaced, own);
    for (const fs::path& path : {staged, merged, crashes, replaced}) fs::remove_all(path);
  }

 private:
  fs::path hidden(const char* suffix) const {
    return own.parent_path() / ("." + own.filename().string() + suffix);
  }
};

// In one step where the file system can.
void take_the_place(const fs::path& fresh, const Beside& beside) {
  if (renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, beside.own.c_str(), RENAME_EXCHANGE) == 0) {
    fs::remove_all(fresh);
    return;
  }
  fs::rename(beside.own, beside.replaced);
  fs::rename(fresh, beside.own);
  fs::remove_all(beside.replaced);
}

class Minimising {
 public:
  Minimising(std::string corpus, std::string binaries)
      : corpus_(std::move(corpus)), binaries_(std::move(binaries)) {
    for (const char* const part : {"seeds", "regressions"}) {
      for (CorpusEntry& entry : corpus_entries(corpus_)) {
        if (entry.part == part) kept_for_ever_.push_back(std::move(entry));
      }
    }
  }

  // Seeds and regressions are not ours to drop.
  void report_equal() const {
    std::map<std::string, std::string> first;
    for (const CorpusEntry& entry : kept_for_ever_) {
      const auto [other, is_new] = first.emplace(entry.canonical(), entry.path);
      if (!is_new) to_terminal("{}: the same as {}, left as it is\n", entry.path, other->second);
    }
  }

  ExitStatus minimise(const std::string& target) {
    const Beside beside(fs::path(corpus_) / "fuzz" / target);
    const std::vector<CorpusEntry> entries = corpus_entries(corpus_, "fuzz", target);
    ExitStatus status = exit_ok;
    std::vector<const CorpusEntry*> kept = without_equal(entries, status);
    const size_t different = kept.size();
    std::set<std::string> covering;
    const Fuzzer fuzzer = fuzzer_of(binaries_, target);
    if (fuzzer.why_not.empty() && !kept.empty()) {
      const ExitStatus merged = merge(fuzzer.path, beside, kept, covering);
      if (merged != exit_ok) return combined(merged, status);
      std::erase_if(kept, [&](const CorpusEntry* entry) {
        const bool drop = entry->why_no_case.empty() && !covering.contains(entry->bytes);
        if (drop) to_terminal("{}: dropped, others cover what it does\n", entry->path);
        return drop;
      });
    }
    const bool changed = replace(beside, kept);
    to_terminal("{}: {} files, {} of them different, {} kept{}{}\n", target, entries.size(),
                different, kept.size(), changed ? "" : ", nothing to change",
                fuzzer.why_not.empty()
                    ? ""
                    : fmt::format(" ({}: only equal ones were dropped)", fuzzer.why_not));
    return status;
  }

 private:
  std::vector<const CorpusEntry*> without_equal(const std::vector<CorpusEntry>& entries,
                                                ExitStatus& status) const {
    std::map<std::string, std::string> known;
    for (const CorpusEntry& entry : kept_for_ever_) known.emplace(entry.canonical(), entry.path);
    std::vector<const CorpusEntry*> kept;
    for (const CorpusEntry& entry : entries) {
      if (!entry.why_no_case.empty()) {
        status = refuse(entry.why_no_case + "; left as it is", exit_bad_input);
        kept.push_back(&entry);
        continue;
      }
      const auto [other, is_new] = known.emplace(entry.canonical(), entry.path);
      if (is_new) {
        kept.push_back(&entry);
      } else {
        to_terminal("{}: dropped, the same as {}\n", entry.path, other->second);
      }
    }
    return kept;
  }

  // The smallest set that covers as much, by the fuzzer's own merge; what crashes it is in the set
  // too, for it is worth more than what it covers.
  static ExitStatus merge(const std::string& fuzzer, const Beside& beside,
                          const std::vector<const CorpusEntry*>& kept,
                          std::set<std::string>& covering) {
    for (const fs::path& path : {beside.staged, beside.merged, beside.crashes}) {
      fs::create_directories(path);
    }
    for (size_t i = 0; i < kept.size(); ++i) {
      const std::string staged = beside.staged / fmt::format("{:06}", i);
      const std::string why = write_whole(staged, kept[i]->bytes);
      if (!why.empty()) return refuse(why, exit_infrastructure);
    }
    const std::string line = fmt::format(
        "{} -set_cover_merge=1 -artifact_prefix={}/ {} {} 2>&1", shell_word(fuzzer),
        shell_word(fs::absolute(beside.crashes)), shell_word(fs::absolute(beside.merged)),
        shell_word(fs::absolute(beside.staged)));
    const Output output = output_of(line);
    for (const fs::path& folder : {beside.merged, beside.crashes}) {
      for (const auto& file : fs::directory_iterator(folder)) {
        std::string why;
        const std::optional<std::string> bytes = read_bytes(file.path(), &why);
        if (!bytes) return refuse(why, exit_infrastructure);
        covering.insert(*bytes);
      }
    }
    ExitStatus status = exit_ok;
    if (output.status != 0 || covering.empty()) {
      const size_t tail = output.text.size() > 2000 ? output.text.size() - 2000 : 0;
      status = refuse(fmt::format("{} did not merge (status {}), nothing was changed:\n{}", line,
                                  output.status, output.text.substr(tail)),
                      exit_infrastructure);
    }
    for (const CorpusEntry* entry : kept) {
      const bool crashes = std::any_of(fs::directory_iterator(beside.crashes),
                                       fs::directory_iterator(), [&](const auto& file) {
                                         std::string why;
                                         return read_bytes(file.path(), &why) == entry->bytes;
                                       });
      if (crashes) to_terminal("{0}: it fails: deltaproof corpus add {0}\n", entry->path);
    }
    return status;
  }

  // What the file is called in the new folder: two that differ never share a name.
  static std::string name_of(const CorpusEntry& entry, const std::set<std::string>& taken) {
    const fs::path now = fs::path(entry.path).filename();
    const std::string stem = entry.content ? hash8(*entry.content) : now.stem().string();
    const std::string extension = entry.content ? ".case" : now.extension().string();
    std::string name = stem + extension;
    for (int i = 2; taken.contains(name); ++i) name = fmt::format("{}_{}{}", stem, i, extension);
    return name;
  }

  // False where the folder is as it should be already.
  static bool replace(const Beside& beside, const std::vector<const CorpusEntry*>& kept) {
    std::set<std::string> wanted, there;
    std::map<std::string, const CorpusEntry*> fresh;
    for (const CorpusEntry* entry : kept) {
      const std::string name = *wanted.insert(name_of(*entry, wanted)).first;
      fresh[name] = entry;
    }
    for (const auto& file : fs::directory_iterator(beside.own)) {
      const std::string name = file.path().filename();
      if (!name.starts_with('.')) there.insert(name);
    }
    if (wanted == there) return false;
    fs::remove_all(beside.staged);
    fs::create_directories(beside.staged);
    for (const auto& [name, entry] : fresh) {
      const std::string why = write_whole(beside.staged / name, entry->bytes);
      if (!why.empty()) throw std::system_error(std::make_error_code(std::errc::io_error), why);
    }
    take_the_place(beside.staged, beside);
    return true;
  }

  std::string corpus_, binaries_;
  std::vector<CorpusEntry> kept_for_ever_;
};

ExitStatus minimise_all(const CorpusMinimiseCommand& command) {
  std::string why;
  const std::string corpus = corpus_folder(command.corpus, &why);
  if (corpus.empty()) return refuse(why, exit_bad_input);
  std::error_code error;
  if (!command.binaries.empty() && !fs::is_directory(command.binaries, error)) {
    return refuse(fmt::format("--binaries: {}: no such folder", printable_path(command.binaries)),
                  exit_bad_input);
  }
  const fs::path build = fs::path(corpus).parent_path() / "build" / "fuzz" / "fuzz";
  Minimising minimising(corpus, command.binaries.empty() ? build.string() : command.binaries);
  minimising.report_equal();
  ExitStatus status = exit_ok;
  for (const FuzzTarget& target : fuzz_targets) {
    const Beside beside(fs::path(corpus) / "fuzz" / target.name);
    beside.clear();
    if (!fs::is_directory(beside.own)) continue;
    const ExitStatus of_target = minimising.minimise(std::string(target.name));
    beside.clear();
    status = combined(of_target, status);
  }
  return status;
}

}  // namespace

ExitStatus run_corpus_minimise(const CorpusMinimiseCommand& command) {
  return supervised([&](Doing&) {
    try {
      return minimise_all(command);
    } catch (const std::system_error& failed) {
      return refuse(failed.what(), exit_infrastructure);
    }
  });
}

}  // namespace gdn
