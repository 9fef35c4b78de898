// What lies in the corpus: its files by part and folder, and the header of a regression, by which
// two regressions of one fault know each other.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/case.h"

namespace gdn {

// The fuzz targets: those that take the text of a case, and those that take hostile bytes. A test
// holds the list to fuzz/.
struct FuzzTarget {
  std::string_view name;
  bool on_cases;
};
inline constexpr FuzzTarget fuzz_targets[] = {
    {"fuzz_api_calls", true},         {"fuzz_c_abi", false},    {"fuzz_case_text", false},
    {"fuzz_plugin_handshake", false}, {"fuzz_q4_scales", true}, {"fuzz_recurrence", true},
    {"fuzz_safetensors", false},      {"fuzz_shapes", true},
};
const FuzzTarget* fuzz_target_named(std::string_view name);
// The last folder of the path that is named after a target: where a fuzzer left what it found.
const FuzzTarget* fuzz_target_of_path(const std::string& path);

struct CorpusEntry {
  std::string part;    // seeds, regressions or fuzz
  std::string folder;  // below it: an operator, an invariant or a fuzz target
  std::string path;
  std::string bytes;
  std::optional<Case> content;  // none: bytes for a hostile target, or no case at all
  std::string why_no_case;      // of what should be one: the file, the line, what was expected

  // Equal for two files of which one is enough.
  std::string canonical() const { return content ? print(*content) : bytes; }
};
// By part in the order above, then by name. Throws std::system_error where a folder or a file
// cannot be read.
std::vector<CorpusEntry> corpus_entries(const std::string& corpus);
// The files of one folder: none where there is no such folder.
std::vector<CorpusEntry> corpus_entries(const std::string& corpus, const std::string& part,
                                        const std::string& folder);

// The folder that a command works on: the one that it is given, else the tree's. Empty, and why.
std::string corpus_folder(const std::string& given, std::string* why);
// Eight hexadecimal digits, as hash8 gives them for the text of a case.
std::string hash8_of_bytes(std::string_view bytes);

struct RegressionHeader {
  std::string what;  // the verdict's own words
  std::string found_by;
  std::string engines;    // on which it failed, by name
  std::string op;         // the operator, or host
  std::string diagnosis;  // `what` without its numbers
  std::string commit;

  // Filed under one invariant, are they the same fault?
  bool same_fault(const RegressionHeader& other) const {
    return engines == other.engines && op == other.op && diagnosis == other.diagnosis;
  }
};
std::vector<std::string> comments_of(const RegressionHeader& header);
// What is missing is empty: older files have a sentence or two in place of a header.
RegressionHeader header_of(std::string_view text);
// The words of a verdict with every number replaced by #: equal for equal faults.
std::string without_numbers(std::string_view detail);
// All comments of a text as one line.
std::string comment_of(std::string_view text);

// What a line for the shell prints; `status` is its exit status, -1 where a signal ended it.
struct Output {
  int status = -1;
  std::string text;
};
Output output_of(const std::string& line);

}  // namespace gdn
