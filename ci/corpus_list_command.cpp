// `deltaproof corpus list` and `deltaproof corpus stats`: what the corpus holds, and what it lacks.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "ci/case_files.h"
#include "ci/corpus_commands.h"
#include "ci/corpus_files.h"
#include "ci/escaped.h"
#include "ci/table.h"
#include "invariants/harness/invariant.h"
#include "invariants/harness/safetensors.h"

namespace gdn {
namespace {

using nlohmann::ordered_json;

constexpr const char* none = "-";

std::string words_of(const std::string& text) { return text.empty() ? none : text; }

std::string subject_of(const CorpusEntry& entry) {
  if (entry.content) return std::string(name_of(entry.content->subject));
  return entry.why_no_case.empty() ? "bytes" : "no case";
}

// What a person wrote of it, or what the fault was; else what the case is.
std::string shown_by(const CorpusEntry& entry) {
  if (!entry.content) return fmt::format("{} bytes", entry.bytes.size());
  const std::string what = header_of(entry.bytes).what;
  if (!what.empty()) return what;
  const std::string comment = comment_of(entry.bytes);
  const std::string words = in_words(*entry.content);
  return comment.empty() ? words.substr(0, words.find('\n')) : comment;
}

std::string invariant_of(const CorpusEntry& entry) {
  return entry.part == "regressions" && invariant_named(entry.folder) != nullptr ? entry.folder
                                                                                 : "";
}

std::string found_by(const CorpusEntry& entry) {
  if (entry.part == "fuzz") return entry.folder;
  return header_of(entry.bytes).found_by;
}

// The operator that a case is about: its subject's, or what a regression's header names.
std::string operator_in(const CorpusEntry& entry) {
  const std::string named = header_of(entry.bytes).op;
  if (!named.empty() || !entry.content) return named;
  const std::optional<Operator> op = operator_of(entry.content->subject);
  return op ? std::string(name_of(*op)) : "";
}

ordered_json json_of(const CorpusEntry& entry) {
  return {{"path", entry.path},
          {"part", entry.part},
          {"folder", entry.folder},
          {"subject", subject_of(entry)},
          {"shows", shown_by(entry)},
          {"invariant", invariant_of(entry)},
          {"operator", operator_in(entry)},
          {"found_by", found_by(entry)},
          {"bytes", entry.bytes.size()}};
}

std::string dumped(const ordered_json& json) {
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

// Of files that should be cases and are none: a line each, and status 2 in the end.
ExitStatus said_what_is_no_case(const std::vector<CorpusEntry>& entries) {
  ExitStatus status = exit_ok;
  for (const CorpusEntry& entry : entries) {
    if (entry.why_no_case.empty()) continue;
    fmt::print(stderr, "deltaproof: {}\n", entry.why_no_case);
    status = exit_bad_input;
  }
  return status;
}

struct Stats {
  std::map<std::string, size_t> files, bytes;  // by part/folder
  std::map<std::string, size_t> subjects, invariants, targets;
  std::vector<std::vector<std::string>> equal;  // paths of files that are the same input
  std::vector<std::string> operators_without_seed, operators_without_regression;
  std::vector<std::string> invariants_without_seed, invariants_without_regression;
  std::vector<std::string> targets_without_input;
};

std::vector<std::string> lacking(const std::vector<std::string>& all,
                                 const std::vector<std::string>& covered) {
  std::vector<std::string> lacked;
  for (const std::string& name : all) {
    if (std::find(covered.begin(), covered.end(), name) == covered.end()) lacked.push_back(name);
  }
  return lacked;
}

void count(const std::vector<CorpusEntry>& entries, Stats& stats) {
  std::map<std::string, std::vector<std::string>> same;
  for (const CorpusEntry& entry : entries) {
    const std::string folder = entry.part + "/" + entry.folder;
    ++stats.files[folder];
    stats.bytes[folder] += entry.bytes.size();
    ++stats.subjects[subject_of(entry)];
    if (!invariant_of(entry).empty()) ++stats.invariants[entry.folder];
    if (fuzz_target_named(entry.folder) != nullptr) ++stats.targets[entry.folder];
    same[(entry.content ? "case " : "bytes ") + entry.canonical()].push_back(entry.path);
  }
  for (const auto& [input, paths] : same) {
    if (paths.size() > 1) stats.equal.push_back(paths);
  }
}

void find_gaps(const std::vector<CorpusEntry>& entries, Stats& stats) {
  std::vector<std::string> operators, seeded, regressed, invariants, asked_of_seeds, targets;
  for (int op = 0; op <= static_cast<int>(Operator::dequant); ++op) {
    operators.emplace_back(name_of(static_cast<Operator>(op)));
  }
  for (const CorpusEntry& entry : entries) {
    if (entry.part == "seeds") seeded.push_back(operator_in(entry));
    if (entry.part == "regressions") regressed.push_back(operator_in(entry));
  }
  for (const Invariant& invariant : registry()) {
    invariants.push_back(invariant.name);
    const bool is_asked = std::any_of(entries.begin(), entries.end(), [&](const CorpusEntry& one) {
      return one.part == "seeds" && one.content && invariant.claim.applies(*one.content);
    });
    if (is_asked) asked_of_seeds.push_back(invariant.name);
  }
  std::vector<std::string> names, inputs;
  for (const auto& [name, files] : stats.invariants) names.push_back(name);
  for (const auto& [name, files] : stats.targets) inputs.push_back(name);
  for (const FuzzTarget& target : fuzz_targets) targets.emplace_back(target.name);
  stats.operators_without_seed = lacking(operators, seeded);
  stats.operators_without_regression = lacking(operators, regressed);
  stats.invariants_without_seed = lacking(invariants, asked_of_seeds);
  stats.invariants_without_regression = lacking(invariants, names);
  stats.targets_without_input = lacking(targets, inputs);
}

ordered_json json_of(const Stats& stats) {
  ordered_json folders = ordered_json::array();
  size_t files = 0, bytes = 0;
  for (const auto& [folder, number] : stats.files) {
    folders.push_back({{"folder", folder}, {"files", number}, {"bytes", stats.bytes.at(folder)}});
    files += number;
    bytes += stats.bytes.at(folder);
  }
  return {{"format", "deltaproof-corpus-stats"},
          {"version", 1},
          {"files", files},
          {"bytes", bytes},
          {"folders", folders},
          {"subjects", stats.subjects},
          {"invariants", stats.invariants},
          {"targets", stats.targets},
          {"equal", stats.equal},
          {"operators_without_seed", stats.operators_without_seed},
          {"operators_without_regression", stats.operators_without_regression},
          {"invariants_without_seed", stats.invariants_without_seed},
          {"invariants_without_regression", stats.invariants_without_regression},
          {"targets_without_input", stats.targets_without_input}};
}

void print_counts(const char* what, const std::map<std::string, size_t>& counts) {
  TextTable table{{what, "files"}, {}};
  for (const auto& [name, number] : counts) table.rows.push_back({name, fmt::format("{}", number)});
  to_terminal("{}\n", as_text(table));
}

void print_names(const char* what, const std::vector<std::string>& names) {
  std::string line;
  for (const std::string& name : names) line += " " + name;
  to_terminal("{} ({}):{}\n", what, names.size(), line.empty() ? " none" : line);
}

void print_text(const Stats& stats) {
  TextTable folders{{"folder", "files", "bytes"}, {}};
  size_t files = 0, bytes = 0;
  for (const auto& [folder, number] : stats.files) {
    const size_t size = stats.bytes.at(folder);
    folders.rows.push_back({folder, fmt::format("{}", number), fmt::format("{}", size)});
    files += number;
    bytes += size;
  }
  to_terminal("{}\n", as_text(folders));
  print_counts("subject", stats.subjects);
  print_counts("invariant", stats.invariants);
  print_counts("fuzz target", stats.targets);
  to_terminal("{} files, {} bytes\n", files, bytes);
  for (const std::vector<std::string>& paths : stats.equal) {
    to_terminal("the same input: {}\n", fmt::join(paths, " "));
  }
  print_names("operators without a seed", stats.operators_without_seed);
  print_names("operators without a regression", stats.operators_without_regression);
  print_names("invariants that no seed asks", stats.invariants_without_seed);
  print_names("invariants without a regression", stats.invariants_without_regression);
  print_names("fuzz targets without an input", stats.targets_without_input);
}

ExitStatus read_entries(const CorpusListCommand& command, std::vector<CorpusEntry>& entries) {
  std::string why;
  const std::string corpus = corpus_folder(command.corpus, &why);
  if (corpus.empty()) {
    fmt::print(stderr, "deltaproof: {}\n", why);
    return exit_bad_input;
  }
  entries = corpus_entries(corpus);
  return exit_ok;
}

}  // namespace

ExitStatus run_corpus_list(const CorpusListCommand& command) {
  std::vector<CorpusEntry> entries;
  const ExitStatus status = read_entries(command, entries);
  if (status != exit_ok) return status;
  if (command.json) {
    ordered_json all = ordered_json::array();
    for (const CorpusEntry& entry : entries) all.push_back(json_of(entry));
    to_terminal("{}", dumped(all));
    return said_what_is_no_case(entries);
  }
  TextTable table{{"file", "subject", "invariant", "found by", "shows"}, {}};
  for (const CorpusEntry& entry : entries) {
    table.rows.push_back({entry.path, subject_of(entry), words_of(invariant_of(entry)),
                          words_of(printable(found_by(entry))), printable(shown_by(entry), 100)});
  }
  to_terminal("{}\n{} files\n", as_text(table), entries.size());
  return said_what_is_no_case(entries);
}

ExitStatus run_corpus_stats(const CorpusListCommand& command) {
  std::vector<CorpusEntry> entries;
  const ExitStatus status = read_entries(command, entries);
  if (status != exit_ok) return status;
  Stats stats;
  count(entries, stats);
  find_gaps(entries, stats);
  if (command.json) {
    to_terminal("{}", dumped(json_of(stats)));
  } else {
    print_text(stats);
  }
  return said_what_is_no_case(entries);
}

}  // namespace gdn
