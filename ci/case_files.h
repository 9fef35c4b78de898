// Cases as files, and in words for people.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ci/exit_status.h"
#include "reference/case.h"

namespace gdn {

struct CaseFile {
  std::string path;
  Case content;
};

// Nothing, and in `why` the file, the line and what was expected.
std::optional<Case> read_case(const std::string& path, std::string* why);
// Every .case file below a folder, by name. False, and why.
bool read_cases_below(const std::string& folder, std::vector<CaseFile>& files, std::string* why);
// Every .case file below corpus/seeds, then corpus/regressions, by name. False, and why.
bool read_corpus(const std::string& corpus, std::vector<CaseFile>& files, std::string* why);
// The folder corpus of the tree: below the working folder, else of the tree that this program was
// built in; empty if neither is there.
std::string find_corpus();

// The text form with comments below its first line.
std::string commented(const Case& c, const std::vector<std::string>& comments);
// What it is, what its numbers are like, and its calls, on several lines.
std::string in_words(const Case& c);

// What was given as --seed: a decimal number below 2^64, or hexadecimal text, such as a commit's
// hash, by its hash; 1 where nothing was given. Refused if it is neither.
ExitStatus seed_asked(const std::string& text, uint64_t* seed);

}  // namespace gdn
