// `deltaproof corpus add`: from a file that shows a fault to a regression that is kept for ever.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>

#include "ci/case_files.h"
#include "ci/corpus_commands.h"
#include "ci/corpus_fault.h"
#include "ci/corpus_files.h"
#include "ci/escaped.h"
#include "ci/files.h"
#include "ci/processes.h"
#include "ci/supervised.h"
#include "invariants/harness/safetensors.h"

namespace gdn {
namespace {

namespace fs = std::filesystem;

// Of several files: bad input first, since nothing was learned of that one.
ExitStatus worse(ExitStatus one, ExitStatus two) {
  if (one == exit_bad_input || two == exit_bad_input) return exit_bad_input;
  return combined(one, two);
}

bool is_date(const std::string& text) {
  constexpr std::string_view form = "dddd-dd-dd";
  const bool is_formed = std::equal(
      text.begin(), text.end(), form.begin(), form.end(),
      [](char c, char wanted) { return wanted == 'd' ? c >= '0' && c <= '9' : c == wanted; });
  if (!is_formed) return false;
  const auto number = [&](size_t at, size_t count) { return std::stoi(text.substr(at, count)); };
  const std::chrono::year_month_day date{std::chrono::year(number(0, 4)),
                                         std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                         std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  return date.ok();
}

std::string today() { return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr))); }

// The commit that is checked out, with "+changes" where files of it were changed; empty where there
// is no history.
std::string commit_of(const std::string& corpus) {
  const std::string git = "git -C " + shell_word(corpus) + " ";
  Output head = output_of(git + "rev-parse --short=12 HEAD 2>/dev/null");
  if (head.status != 0) return "";
  while (head.text.ends_with('\n')) head.text.pop_back();
  const Output changes = output_of(git + "status --porcelain --untracked-files=no 2>/dev/null");
  return head.text + (changes.text.empty() ? "" : "+changes");
}

// What the file itself says, as `check` and this command write it; else the target of its path.
std::string found_by(const CorpusAddCommand& command, const std::string& path,
                     std::string_view text) {
  if (!command.found_by.empty()) return command.found_by;
  const std::string said = header_of(text).found_by;
  if (!said.empty()) return said;
  constexpr std::string_view saved_by_check = "\n# Found by ";
  const size_t at = text.find(saved_by_check);
  if (at != std::string_view::npos) {
    const size_t from = at + saved_by_check.size();
    return std::string(text.substr(from, text.find('\n', from) - from));
  }
  const FuzzTarget* const target = fuzz_target_of_path(path);
  return target != nullptr ? std::string(target->name) : "a file given to corpus add";
}

// Is the test that every file of the tree's corpus has there for this one?
bool is_own_corpus(const std::string& corpus) {
  std::error_code error;
  return !find_corpus().empty() && fs::equivalent(corpus, find_corpus(), error);
}

struct Given {
  std::string path, text;
  Case content;
};

class Adding {
 public:
  Adding(const CorpusAddCommand& command, std::string corpus)
      : command_(command),
        corpus_(std::move(corpus)),
        date_(command.date.empty() ? today() : command.date),
        commit_(commit_of(corpus_)) {}

  // Bytes of a hostile target: what they do is seen by the target alone.
  ExitStatus keep_bytes(const std::string& path, const std::string& bytes,
                        const std::string& target) const {
    for (const CorpusEntry& entry : corpus_entries(corpus_, "regressions", target)) {
      if (entry.bytes != bytes) continue;
      to_terminal("{}: equal to {}, nothing to keep\n", printable_path(path), entry.path);
      return exit_ok;
    }
    const std::string kept = free_path(target, hash8_of_bytes(bytes), "");
    const std::string why = write(kept, bytes);
    if (!why.empty()) {
      return refuse(fmt::format("{}; the input is still {}", why, printable_path(path)),
                    exit_infrastructure);
    }
    to_terminal("{}: {} bytes for {}\nregression: {}\n  replay: build/dev/fuzz/{} {}\n\n",
                printable_path(path), bytes.size(), target, kept, target, shell_word(kept));
    return exit_ok;
  }

  ExitStatus keep_case(const Given& given, const Asked& asked,
                       const std::vector<Answer>& answers) const {
    std::vector<Fault> faults = faults_of(asked, answers);
    if (faults.empty()) return nothing_fails(given, asked);
    const Fault some = faults.front();
    std::erase_if(faults, [](const Fault& fault) { return !fault.why_unfit.empty(); });
    if (faults.empty()) {
      return refuse(
          fmt::format("{}: {} fails on {}, and is {}; a regression has to hold on a right engine, "
                      "kept nothing",
                      printable_path(given.path), some.invariant->name,
                      names_of(asked, some.failing), some.why_unfit),
          exit_fails);
    }
    return file(given, asked, fault_that_says_most(asked, given.content, std::move(faults)));
  }

 private:
  static std::string names_of(const Asked& asked, const std::vector<size_t>& engines) {
    std::vector<std::string> names;
    // Where a library lay on one machine says nothing on another.
    for (const size_t engine : engines) {
      names.push_back(fs::path(asked.judging.engines[engine].name).filename());
    }
    std::sort(names.begin(), names.end());
    return fmt::format("{}", fmt::join(names, " "));
  }

  static ExitStatus nothing_fails(const Given& given, const Asked& asked) {
    std::vector<std::string> names;
    for (const EngineSource& engine : asked.judging.engines) names.push_back(engine.name);
    return refuse(
        fmt::format("{}: expected an input that fails on some engine; nothing fails on {}. Name "
                    "the engine that it is about with --engine. Kept nothing",
                    printable_path(given.path), fmt::join(names, ", ")),
        exit_fails);
  }

  std::string free_path(const std::string& folder, const std::string& hash,
                        const std::string& extension) const {
    const std::string stem = fmt::format("{}/regressions/{}/{}_{}", corpus_, folder, date_, hash);
    std::string path = stem + extension;
    for (int i = 2; fs::exists(path); ++i) path = fmt::format("{}_{}{}", stem, i, extension);
    return path;
  }

  static std::string write(const std::string& path, const std::string& text) {
    std::error_code error;
    fs::create_directories(fs::path(path).parent_path(), error);
    if (error) return fmt::format("{}: cannot be written: {}", path, error.message());
    return write_whole(path, text);
  }

  // The one of the same claim that shows the same, if there is one.
  std::string equal_of(const Fault& fault, const std::string& text) const {
    const RegressionHeader header = header_of(text);
    for (const CorpusEntry& entry : corpus_entries(corpus_, "regressions", fault.invariant->name)) {
      const bool same_case = entry.content && print(*entry.content) == print(fault.smallest);
      const RegressionHeader other = header_of(entry.bytes);
      if (same_case || (!other.diagnosis.empty() && header.same_fault(other))) return entry.path;
    }
    return "";
  }

  ExitStatus file(const Given& given, const Asked& asked, const Fault& fault) const {
    RegressionHeader header;
    header.what = fault.verdict.detail;
    header.found_by = found_by(command_, given.path, given.text);
    header.engines = names_of(asked, fault.failing);
    header.op = fault.op;
    header.diagnosis = without_numbers(fault.verdict.detail);
    header.commit = commit_;
    const std::string text = commented(fault.smallest, comments_of(header));
    to_terminal("{}: {} on {}: {}, operator {}: {}\n", printable_path(given.path),
                name_of(fault.verdict.outcome), visible(header.engines), fault.invariant->name,
                fault.op, printable(fault.verdict.detail, 1000));
    const std::string equal = equal_of(fault, text);
    if (!equal.empty()) {
      to_terminal("the same fault as {}, nothing to keep\n\n", equal);
      return exit_ok;
    }
    const std::string path = free_path(fault.invariant->name, hash8(fault.smallest), ".case");
    const std::string why = write(path, text);
    if (!why.empty()) {
      to_terminal("made smaller in {} steps; it could not be kept, and is:\n{}\n", fault.steps,
                  text);
      return refuse(why, exit_infrastructure);
    }
    tell(asked, fault, path);
    return exit_ok;
  }

  void tell(const Asked& asked, const Fault& fault, const std::string& path) const {
    to_terminal("regression: {}, made smaller in {} steps\n", path, fault.steps);
    if (is_own_corpus(corpus_)) {
      const std::string name = fs::path(path).stem();
      to_terminal(
          "  test: Corpus.{0}.{1}, there without code and without a build\n"
          "    ctest --preset dev -R '^Corpus\\.{0}\\.{1}$'\n",
          fault.invariant->name, name);
    }
    const bool ours = std::any_of(fault.failing.begin(), fault.failing.end(),
                                  [&](size_t engine) { return engine < asked.ours; });
    if (ours) to_terminal("  it stays red until the built-in engine is right\n");
    std::string engines;
    for (const size_t engine : fault.failing) {
      engines += " --engine " + shell_word(asked.judging.engines[engine].name);
    }
    to_terminal("  replay: {} replay {} --invariant {}{}\n\n", shell_word(command_.program),
                shell_word(path), fault.invariant->name, engines);
  }

  const CorpusAddCommand& command_;
  std::string corpus_, date_, commit_;
};

ExitStatus find_all_engines(const CorpusAddCommand& command, EnginesHere& here, size_t& ours) {
  // A case is made smaller on the first that fails: those that cost less come first.
  std::vector<std::string> names = {"twin", "simt"};
  for (size_t i = 0; i < gdn_builtin_count(); ++i) {
    // What serves no layer holds nothing on most cases, and makes none unfit.
    if (gdn_builtin(i)->step == nullptr) continue;
    const std::string name = gdn_builtin(i)->name;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  const ExitStatus status = find_engines(names, true, here);
  ours = here.engines.size();
  if (status != exit_ok) return status;
  std::vector<std::string> others;
  for (const std::string& name : command.engines) {
    const bool known = std::find(names.begin(), names.end(), name) != names.end();
    if (!known) others.push_back(name);
  }
  return find_engines(others, false, here);
}

// Cases go to `given`; bytes of hostile targets are kept at once.
ExitStatus read_all(const CorpusAddCommand& command, const Adding& adding,
                    std::vector<Given>& given) {
  ExitStatus worst = exit_ok;
  for (const std::string& path : command.files) {
    std::string why;
    const FuzzTarget* const target =
        command.target.empty() ? fuzz_target_of_path(path) : fuzz_target_named(command.target);
    std::optional<std::string> bytes = read_bytes(path, &why);
    if (!bytes) {
      worst = worse(worst, refuse(why, exit_bad_input));
      continue;
    }
    if (target != nullptr && !target->on_cases) {
      worst = worse(worst, adding.keep_bytes(path, *bytes, std::string(target->name)));
      continue;
    }
    std::optional<Case> c = parse_case(*bytes, &why);
    if (c) {
      given.push_back({path, *std::move(bytes), *std::move(c)});
      continue;
    }
    why = fmt::format("{}: {}{}", printable_path(path), why,
                      target == nullptr ? "; if these are bytes of a hostile target, name it with "
                                          "--target"
                                        : "");
    worst = worse(worst, refuse(why, exit_bad_input));
  }
  return worst;
}

ExitStatus why_no_start(const CorpusAddCommand& command) {
  if (!command.date.empty() && !is_date(command.date)) {
    return refuse(fmt::format("--date: expected yyyy-mm-dd, got '{}'", printable(command.date)),
                  exit_bad_input);
  }
  if (command.target.empty() || fuzz_target_named(command.target) != nullptr) return exit_ok;
  std::string known;
  for (const FuzzTarget& target : fuzz_targets) known += fmt::format(" {}", target.name);
  return refuse(fmt::format("--target: '{}' is not one of{}", printable(command.target), known),
                exit_bad_input);
}

ExitStatus add_all(const CorpusAddCommand& command, Doing& now) {
  std::string why;
  const std::string corpus = corpus_folder(command.corpus, &why);
  if (corpus.empty()) return refuse(why, exit_bad_input);
  ExitStatus worst = why_no_start(command);
  if (worst != exit_ok) return worst;
  now.enter(Doing::Whose::engine, "loading the engines");
  EnginesHere here;
  size_t ours = 0;
  worst = find_all_engines(command, here, ours);
  if (worst != exit_ok) return worst;
  now.enter(Doing::Whose::ours, "judging");
  const Adding adding(command, corpus);
  std::vector<Given> given;
  worst = read_all(command, adding, given);
  Judging judging;
  find_invariants({}, judging.invariants);
  judging.engines = here.engines;
  judging.processes = processes_here();
  judging.case_at = [&](size_t index) { return given[index].content; };
  judging.asks = [](size_t, const Case&, const Invariant&, size_t) { return true; };
  const Asked asked{judging, ours};
  std::vector<std::vector<Answer>> answers;
  judge(judging, given.size(), nullptr,
        [&](size_t, const std::vector<Answer>& of_one) { answers.push_back(of_one); });
  // One after the other: a file may show the same as the one before it.
  for (size_t i = 0; i < given.size(); ++i) {
    worst = worse(worst, adding.keep_case(given[i], asked, answers[i]));
  }
  return worst;
}

}  // namespace

ExitStatus run_corpus_add(const CorpusAddCommand& command) {
  return supervised([&](Doing& now) { return add_all(command, now); });
}

}  // namespace gdn
