// fuzz/case.dict against what cases print: a word of the text form that no entry has cannot be
// written by a search that changes bytes.
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <set>

#include "invariants/harness/regimes.h"
#include "tests/case_files.h"

namespace gdn {
namespace {

bool is_part_of_a_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::set<std::string> words_of(const std::string& text) {
  std::set<std::string> words;
  for (auto at = text.begin(); at != text.end();) {
    const auto begin = std::find_if(at, text.end(), is_part_of_a_word);
    at = std::find_if_not(begin, text.end(), is_part_of_a_word);
    if (begin != at) words.emplace(begin, at);
  }
  return words;
}

bool is_number(const std::string& word) {
  const bool is_bits =
      word.size() == 8 && word.find_first_not_of("0123456789abcdef") == std::string::npos;
  char* end = nullptr;
  std::strtod(word.c_str(), &end);
  // The text's separators cut 1e-06 in two.
  return is_bits || *end == '\0' || (std::isdigit(word[0]) && std::string_view(end) == "e");
}

// Entries are in quotes, a line break as \x0A.
std::set<std::string> dictionary() {
  std::set<std::string> words;
  std::istringstream lines(file_text(std::filesystem::path(SOURCE_DIR) / "fuzz" / "case.dict"));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('"')) continue;
    for (size_t at; (at = line.find("\\x0A")) != std::string::npos;) line.replace(at, 4, " ");
    words.merge(words_of(line));
  }
  return words;
}

void expect_known(const std::set<std::string>& known, const Case& c, const std::string& name) {
  for (const std::string& word : words_of(print(c))) {
    if (is_number(word)) continue;
    EXPECT_TRUE(known.contains(word)) << name << ": '" << word
                                      << "' is not in fuzz/case.dict; fuzz/README.md says how it "
                                         "is written";
  }
}

TEST(CaseDictionary, HasEveryWordOfTheCorpus) {
  const std::set<std::string> known = dictionary();
  size_t files = 0;
  for (const char* const folder : {"seeds", "regressions"}) {
    for (const CorpusFile& file : case_files(folder)) {
      expect_known(known, file.content, file.name);
      ++files;
    }
  }
  EXPECT_GE(files, 50U) << "too few cases to be trusted";
}

TEST(CaseDictionary, HasEveryWordOfDrawnCases) {
  const std::set<std::string> known = dictionary();
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Rng rng{seed};
    expect_known(known, draw(rng), "drawn from seed " + std::to_string(seed));
  }
}

TEST(CaseDictionary, AWordThatIsMissingIsSeen) {
  EXPECT_FALSE(dictionary().contains("hidden_sizes"));
  EXPECT_TRUE(is_number("1e") && is_number("7f800000") && is_number("06"));
  EXPECT_FALSE(is_number("q4") || is_number("x0A") || is_number("beta"));
}

}  // namespace
}  // namespace gdn
