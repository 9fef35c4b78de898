// Reads the project's own source files for the tests that check their form.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace gdn {

struct SourceFile {
  std::string path;  // from the root of the tree, with forward slashes
  std::vector<std::string> lines;
};

inline bool is_source(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".cpp" || extension == ".h" || extension == ".c" || extension == ".cu" ||
         extension == ".cuh";
}

// Every source file below the top-level folders that hold code, sorted by path.
inline std::vector<SourceFile> source_files(const std::string& root) {
  std::vector<SourceFile> files;
  for (const char* folder :
       {"reference", "device", "invariants", "properties", "fuzz", "tests", "ci"}) {
    const std::filesystem::path top = std::filesystem::path(root) / folder;
    if (!std::filesystem::exists(top)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(top)) {
      if (!entry.is_regular_file() || !is_source(entry.path())) continue;
      SourceFile file{std::filesystem::relative(entry.path(), root).generic_string(), {}};
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);) file.lines.push_back(line);
      files.push_back(std::move(file));
    }
  }
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

inline bool starts_with_any(std::string_view text, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const std::string& prefix) { return text.starts_with(prefix); });
}

}  // namespace gdn
