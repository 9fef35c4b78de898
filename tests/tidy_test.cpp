// The form of the source, as far as a machine can see it. A message names the replacement.
#include <gtest/gtest.h>

#include <regex>

#include "tests/source_tree.h"

namespace gdn {
namespace {

constexpr size_t columns_max = 100;
constexpr size_t file_lines_max = 400;
constexpr size_t function_lines_max = 70;

TEST(Tidy, LinesFitIn100Columns) {
  for (const SourceFile& file : source_files(SOURCE_DIR)) {
    for (size_t i = 0; i < file.lines.size(); ++i) {
      EXPECT_LE(file.lines[i].size(), columns_max)
          << file.path << ":" << i + 1 << ": break the line; clang-format does it";
    }
  }
}

TEST(Tidy, FilesHaveAtMost400Lines) {
  for (const SourceFile& file : source_files(SOURCE_DIR)) {
    EXPECT_LE(file.lines.size(), file_lines_max) << file.path << ": split it by theme";
  }
}

TEST(Tidy, EveryFileOpensWithWhatItIs) {
  for (const SourceFile& file : source_files(SOURCE_DIR)) {
    ASSERT_FALSE(file.lines.empty()) << file.path << ": empty; remove it";
    const std::string& first = file.lines.front();
    EXPECT_TRUE(first.starts_with("// ") || first.starts_with("/* "))
        << file.path << ": begin with a comment of one to four lines that says what it is";
  }
}

// clang-format puts a function's closing brace in column 0 and nothing else of a body there.
std::vector<std::pair<size_t, size_t>> bodies(const SourceFile& file) {
  const std::regex opening(R"(^[A-Za-z].*[)\w]\s*(const|noexcept|override)?\s*\{$|^ {4,}.*\) \{$)");
  std::vector<std::pair<size_t, size_t>> found;
  for (size_t i = 0; i < file.lines.size(); ++i) {
    const std::string& line = file.lines[i];
    if (line.find('(') == std::string::npos || line.starts_with("namespace")) continue;
    if (!std::regex_match(line, opening) || line.starts_with(" ")) continue;
    size_t end = i + 1;
    while (end < file.lines.size() && !file.lines[end].starts_with("}")) ++end;
    found.emplace_back(i, end);
  }
  return found;
}

TEST(Tidy, FunctionsHaveAtMost70Lines) {
  size_t functions = 0;
  for (const SourceFile& file : source_files(SOURCE_DIR)) {
    for (const auto& [begin, end] : bodies(file)) {
      ++functions;
      EXPECT_LE(end - begin + 1, function_lines_max)
          << file.path << ":" << begin + 1 << ": split the function, or move a loop into its own";
    }
  }
  EXPECT_GT(functions, 50U) << "the scan found too little to be trusted";
}

struct Replacement {
  const char* pattern;
  const char* instead;
};

TEST(Tidy, BannedWordsHaveAReplacement) {
  // Spelled in two pieces, so that this file does not contain them.
  const Replacement replacements[] = {
      {R"(\bTO)"
       R"(DO\b|\bFIX)"
       R"(ME\b)",
       "do it now, or file it where the project keeps its issues"},
      {R"(DIS)"
       R"(ABLED_|GTEST_)"
       R"(SKIP)",
       "remove the test or make it run"},
      {R"(std::(uniform|normal|bernoulli)_[a-z_]*)"
       R"(distribution)",
       "Rng of reference/rng.h: the standard leaves distributions to the library"},
      {R"(NO)"
       R"(LINT)",
       "change the code so that the check is content"},
      {R"(#\s*pragma\s+GCC\s+optim)"
       R"(ize)",
       "one set of flags for everything: CMakeLists.txt"},
  };
  for (const Replacement& replacement : replacements) {
    const std::regex banned(replacement.pattern);
    for (const SourceFile& file : source_files(SOURCE_DIR)) {
      for (size_t i = 0; i < file.lines.size(); ++i) {
        EXPECT_FALSE(std::regex_search(file.lines[i], banned))
            << file.path << ":" << i + 1 << ": " << replacement.instead;
      }
    }
  }
}

}  // namespace
}  // namespace gdn
