// A mutant of the kernels or of their host as an edit of one source file: what a file *.edit says,
// and the source that comes of it. docs/kernel-mutants.md shows one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gdn {

// Whole lines, each with its line end.
struct Replacement {
  std::string old_text, new_text;
  size_t line = 0;  // of the edit file, where the old text begins
};

struct SourceEdit {
  std::string name;        // the stem of its file: the bug
  std::string bug;         // one sentence
  std::string op;          // the operator that triage must name, or "host"
  std::string file;        // below the root of the tree
  std::string kind;        // one of edit_kinds
  std::string engine;      // on which it is judged: simt, or simt_checked where accesses show it
  std::string equivalent;  // why no call can tell it from the right engine; empty where one can
  std::vector<Replacement> replacements;
};

const std::vector<std::string>& edit_kinds();

// Nothing, and in `why` the line and what was expected there.
std::optional<SourceEdit> parse_edit(std::string_view name, std::string_view text,
                                     std::string* why);

// The source with every old text replaced, one after the other. Nothing where one does not occur
// exactly once: *why says so and what to do.
std::optional<std::string> apply_edit(const SourceEdit& edit, std::string source, std::string* why);

}  // namespace gdn
