// One name, one type: two classes of one name in one namespace compile, link, and then destroy each
// other's members, because the linker keeps one of their inline functions.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "tests/source_tree.h"

namespace gdn {
namespace {

// "gdn::twin::Engine" for each class defined at namespace scope; those of unnamed namespaces are
// the file's own and left out. clang-format keeps such lines in column 0.
std::vector<std::string> types_of(const std::vector<std::string>& lines) {
  const std::regex opening(R"(^(?:inline )?namespace ((?:\w+(?:::(?:inline )?\w+)*)?) ?\{.*)");
  const std::regex closing(R"(^\}  // namespace.*)");
  const std::regex type(
      R"(^(?:struct|class|union|enum class|enum) (\w+)(?: final)?(?: :.*)? \{.*)");
  std::vector<std::string> scopes;
  std::vector<std::string> found;
  for (const std::string& line : lines) {
    std::smatch match;
    if (std::regex_match(line, match, opening)) {
      scopes.push_back(match[1]);
    } else if (std::regex_match(line, closing)) {
      if (!scopes.empty()) scopes.pop_back();
    } else if (std::regex_match(line, match, type)) {
      std::string name;
      for (const std::string& scope : scopes) name += scope + "::";
      const bool own = std::find(scopes.begin(), scopes.end(), "") != scopes.end();
      if (!own) found.push_back(name + std::string(match[1]));
    }
  }
  return found;
}

TEST(OneDefinition, EveryTypeOfANamespaceIsDefinedInOneFile) {
  std::map<std::string, std::set<std::string>> files_of;
  for (const SourceFile& file : source_files(SOURCE_DIR)) {
    for (const std::string& name : types_of(file.lines)) files_of[name].insert(file.path);
  }
  EXPECT_GT(files_of.size(), 50U) << "the scan found too little to be trusted";
  for (const auto& [name, files] : files_of) {
    // Two test programs are never linked together; a test and the tree that it tests are.
    const bool tests_alone = std::all_of(files.begin(), files.end(), [](const std::string& file) {
      return file.ends_with("_test.cpp");
    });
    std::string all;
    for (const std::string& file : files) all += " " + file;
    EXPECT_TRUE(files.size() == 1 || tests_alone)
        << name << " is defined in" << all << ": rename all but one";
  }
}

TEST(OneDefinition, TheScanSeesNamespacesAndLeavesOutTheUnnamed) {
  const std::vector<std::string> lines = {"namespace gdn::twin {",
                                          "struct Layer {",
                                          "  struct Inner {",
                                          "  };",
                                          "};",
                                          "namespace {",
                                          "class Own final : Base {",
                                          "};",
                                          "}  // namespace",
                                          "enum class Kind : char { a };",
                                          "}  // namespace gdn::twin",
                                          "namespace gdn::inline on_simt {",
                                          "class Steps {",
                                          "};",
                                          "}  // namespace gdn::inline on_simt"};
  EXPECT_EQ(types_of(lines), (std::vector<std::string>{"gdn::twin::Layer", "gdn::twin::Kind",
                                                       "gdn::inline on_simt::Steps"}));
}

}  // namespace
}  // namespace gdn
