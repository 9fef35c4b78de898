// The registry: every invariant's file is in it, by its name, and what it records can be read.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <filesystem>

#include "invariants/harness/invariant.h"
#include "invariants/harness/record.h"

namespace gdn {
namespace {

TEST(Registry, HoldsOneInvariantForEachFile) {
  std::vector<std::string> stems;
  const std::filesystem::path folder = std::filesystem::path(SOURCE_DIR) / "invariants";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".cpp") stems.push_back(entry.path().stem());
  }
  std::sort(stems.begin(), stems.end());
  std::vector<std::string> names;
  for (const Invariant& invariant : registry()) names.push_back(invariant.name);
  EXPECT_EQ(names, stems);
  EXPECT_GE(names.size(), 4U);
}

TEST(Registry, EachInvariantCanBeFoundAndAsked) {
  for (const Invariant& invariant : registry()) {
    EXPECT_EQ(invariant_named(invariant.name), &invariant);
    EXPECT_GT(std::string_view(invariant.claim.claim).size(), 20U) << invariant.name;
    EXPECT_NE(invariant.claim.applies, nullptr) << invariant.name;
    EXPECT_NE(invariant.claim.check, nullptr) << invariant.name;
  }
  EXPECT_EQ(invariant_named("no_such_claim"), nullptr);
}

TEST(Record, IsOneLineOfJsonWithEveryFigure) {
  Verdict verdict;
  verdict.outcome = Outcome::fails;
  verdict.elements = 12;
  verdict.undecided = 3;
  verdict.worst_ratio = infinity;
  verdict.worst_ulp = 2.5;
  verdict.worst_index = 7;
  verdict.detail = "two\nlines, and no UTF-8: \xff";
  Case c;
  c.seed = 18446744073709551615U;
  const std::string line = record_line("twin", "layer_within_bound", c, verdict);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const nlohmann::json record = nlohmann::json::parse(line);
  EXPECT_EQ(record.at("version"), 2);
  EXPECT_EQ(record.at("engine"), "twin");
  EXPECT_EQ(record.at("invariant"), "layer_within_bound");
  EXPECT_EQ(record.at("case"), hash8(c));
  EXPECT_EQ(record.at("subject"), "layer");
  EXPECT_EQ(record.at("seed"), "18446744073709551615");
  EXPECT_EQ(record.at("outcome"), "fails");
  EXPECT_EQ(record.at("elements"), 12);
  EXPECT_EQ(record.at("undecided"), 3);
  EXPECT_EQ(record.at("worst_ratio"), "inf");
  EXPECT_EQ(record.at("worst_ulp"), 2.5);
  EXPECT_EQ(record.at("worst_index"), 7);
  EXPECT_EQ(record.at("text"), print(c));
  EXPECT_EQ(record.size(), 14U);
}

}  // namespace
}  // namespace gdn
