// Cases as files: reading one, and finding those of a folder.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "reference/case.h"

namespace gdn {

struct CorpusFile {
  std::string name;  // below corpus/: "seeds/layer/rollback.case"
  std::string text;
  Case content;
};

inline std::string file_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Sorted by name; a file that cannot be read fails the test.
inline std::vector<CorpusFile> case_files(const std::string& folder) {
  const std::filesystem::path corpus = std::filesystem::path(SOURCE_DIR) / "corpus";
  std::vector<CorpusFile> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(corpus / folder)) {
    if (entry.path().extension() != ".case") continue;
    CorpusFile file{std::filesystem::relative(entry.path(), corpus).string(), "", {}};
    file.text = file_text(entry.path());
    std::string why;
    const std::optional<Case> parsed = parse_case(file.text, &why);
    EXPECT_TRUE(parsed.has_value()) << file.name << ": " << why;
    if (parsed) file.content = *parsed;
    files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(),
            [](const CorpusFile& a, const CorpusFile& b) { return a.name < b.name; });
  return files;
}

}  // namespace gdn
