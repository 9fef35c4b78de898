// Which folder may include which: the direction of dependencies, read off the #include lines.
// CONTRIBUTING.md shows the same table for people.
#include <gtest/gtest.h>

#include <map>
#include <regex>

#include "tests/source_tree.h"

namespace gdn {
namespace {

struct Layer {
  std::string folder;                  // the most specific entry decides
  std::vector<std::string> own;        // prefixes of project headers that it may include
  std::vector<std::string> libraries;  // prefixes of <...> headers beyond std and POSIX
};

// Ordered from the most to the least specific folder.
const std::vector<Layer>& layers() {
  static const std::vector<Layer> table = {
      {"reference/gpu/", {"reference/"}, {"cuda"}},
      {"reference/", {"reference/"}, {"boost/", "mpfr.h", "gmp.h"}},
      {"device/simt/", {"device/"}, {"boost/context/"}},
      {"device/", {"device/"}, {"cuda"}},
      {"invariants/harness/",
       {"invariants/harness/", "reference/", "device/gdn.h"},
       {"nlohmann/", "fmt/"}},
      {"invariants/", {"invariants/harness/invariant.h"}, {}},
      {"properties/", {"properties/", "invariants/harness/", "reference/"}, {"rapidcheck"}},
      {"fuzz/", {"fuzz/", "invariants/harness/", "reference/"}, {}},
      {"ci/",
       {"ci/", "invariants/harness/", "reference/"},
       {"CLI/", "sqlite3.h", "fmt/", "nlohmann/"}},
      {"tests/", {""}, {""}},
  };
  return table;
}

const std::vector<std::string>& third_party() {
  static const std::vector<std::string> prefixes = {"boost/", "mpfr.h", "gmp.h",      "nlohmann/",
                                                    "fmt/",   "CLI/",   "sqlite3.h",  "rapidcheck",
                                                    "gtest",  "gmock",  "benchmark/", "cuda"};
  return prefixes;
}

// Empty if `file` may include `header`, spelled with its quotes or angle brackets.
std::string why_forbidden(const std::string& file, const std::string& header) {
  const auto layer = std::find_if(layers().begin(), layers().end(), [&](const Layer& candidate) {
    return file.starts_with(candidate.folder);
  });
  if (layer == layers().end()) return "its folder is in no layer";
  const std::string name = header.substr(1, header.size() - 2);
  if (header.front() == '"') {
    if (starts_with_any(name, layer->own)) return "";
    return layer->folder + " may not include it";
  }
  if (!starts_with_any(name, third_party()) || starts_with_any(name, layer->libraries)) return "";
  return layer->folder + " may not use that library";
}

TEST(Layering, EveryIncludePointsInTheAllowedDirection) {
  const std::regex include(R"(^\s*#\s*include\s*([<"][^>"]+[>"]).*)");
  size_t includes = 0;
  for (const SourceFile& file : source_files(SOURCE_DIR)) {
    for (size_t i = 0; i < file.lines.size(); ++i) {
      std::smatch match;
      if (!std::regex_match(file.lines[i], match, include)) continue;
      ++includes;
      const std::string why = why_forbidden(file.path, match[1]);
      EXPECT_EQ(why, "") << file.path << ":" << i + 1 << ": includes " << match[1];
    }
  }
  EXPECT_GT(includes, 100U) << "the scan found too little to be trusted";
}

TEST(Layering, OnlyRealHNamesTheMultiprecisionBackend) {
  for (const SourceFile& file : source_files(SOURCE_DIR)) {
    if (file.path == "reference/real.h" || file.path.starts_with("tests/")) continue;
    for (size_t i = 0; i < file.lines.size(); ++i) {
      EXPECT_EQ(file.lines[i].find("boost/multiprecision"), std::string::npos)
          << file.path << ":" << i + 1 << ": include \"reference/real.h\" instead";
    }
  }
}

TEST(Layering, ForbiddenDirectionsAreSeen) {
  EXPECT_NE(why_forbidden("reference/bound.cpp", "\"device/gdn.h\""), "");
  EXPECT_NE(why_forbidden("reference/exact_dot.cpp", "<cuda_runtime.h>"), "");
  EXPECT_NE(why_forbidden("reference/gpu/row_sums.cu", "\"device/gdn.h\""), "");
  EXPECT_NE(why_forbidden("device/twin/conv.cpp", "\"reference/bound.h\""), "");
  EXPECT_NE(why_forbidden("device/twin/conv.cpp", "<boost/context/fiber.hpp>"), "");
  EXPECT_NE(why_forbidden("invariants/split.cpp", "\"invariants/harness/lab.h\""), "");
  EXPECT_NE(why_forbidden("invariants/split.cpp", "<nlohmann/json.hpp>"), "");
  EXPECT_NE(why_forbidden("invariants/harness/lab.cpp", "\"device/twin/engine.h\""), "");
  EXPECT_NE(why_forbidden("ci/main.cpp", "\"fuzz/mutator.h\""), "");
  EXPECT_NE(why_forbidden("fuzz/mutator.cpp", "<rapidcheck.h>"), "");
}

TEST(Layering, AllowedDirectionsAreNot) {
  EXPECT_EQ(why_forbidden("reference/operators/conv.cpp", "<cmath>"), "");
  EXPECT_EQ(why_forbidden("reference/gpu/row_sums.cu", "<cuda_runtime.h>"), "");
  EXPECT_EQ(why_forbidden("reference/real.h", "<boost/multiprecision/mpfr.hpp>"), "");
  EXPECT_EQ(why_forbidden("device/simt/fiber.cpp", "<boost/context/fiber.hpp>"), "");
  EXPECT_EQ(why_forbidden("invariants/harness/lab.cpp", "\"device/gdn.h\""), "");
  EXPECT_EQ(why_forbidden("invariants/split.cpp", "\"invariants/harness/invariant.h\""), "");
  EXPECT_EQ(why_forbidden("ci/main.cpp", "<CLI/CLI.hpp>"), "");
}

}  // namespace
}  // namespace gdn
