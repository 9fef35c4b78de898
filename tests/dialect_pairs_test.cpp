// Every pair of presets is told apart by a case, or each of its differences has a reason; and
// docs/dialects.md says what the tool says.
#include "ci/dialect_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ci/dialect_report.h"
#include "tests/program_run.h"

namespace gdn {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

ExpectedElement element(double value, double bound, Format stored = Format::f32) {
  return {value, bound, stored};
}

TEST(DialectPairs, WhatBothAcceptExcludesNothing) {
  EXPECT_FALSE(exclude_each_other(element(1, 0.25), element(1.5, 0.25)));  // both take 1.25
  EXPECT_TRUE(exclude_each_other(element(1, 0.25), element(1.6, 0.25)));
  EXPECT_FALSE(exclude_each_other(element(1, 0), element(1, 0)));
  EXPECT_FALSE(exclude_each_other(element(1, infinity), element(2, 0)));
  EXPECT_FALSE(exclude_each_other(element(NAN, 0), element(2, 0)));
}

TEST(DialectPairs, AStoreInFewerBitsExcludesWhatLiesBetweenItsNumbers) {
  // bf16 has no number between 1 and 1 + 2^-7.
  EXPECT_TRUE(exclude_each_other(element(1.003, 1e-6), element(1.003, 1e-6, Format::bf16)));
  EXPECT_FALSE(exclude_each_other(element(1, 1e-6), element(1.001, 1e-6, Format::bf16)));
  EXPECT_FALSE(exclude_each_other(element(1.003, 0.01), element(1.003, 1e-6, Format::bf16)));
  // f16 has ten bits: 1.005859375 is one of its numbers and none of bf16's.
  EXPECT_TRUE(exclude_each_other(element(1.005859375, 0, Format::f16),
                                 element(1.005859375, 0, Format::bf16)));
  EXPECT_FALSE(exclude_each_other(element(1.5, 0, Format::f16), element(1.5, 0, Format::bf16)));
  EXPECT_TRUE(exclude_each_other(element(-1.003, 1e-6), element(-1.003, 1e-6, Format::bf16)));
}

const DialectReport& report() {
  static const DialectReport made = compare_dialects();
  return made;
}

TEST(DialectPairs, EveryPairAndEveryDimensionIsShownOrExplained) {
  EXPECT_THAT(problems_of(report()), IsEmpty());
  const size_t presets = dialect_names().size();
  EXPECT_EQ(report().pairs.size(), presets * (presets - 1) / 2);
}

TEST(DialectPairs, APrintedCaseTellsThemApart) {
  const Lab lab = lab_of_any_order();
  for (const PairRow& pair : report().pairs) {
    size_t shown = 0;
    for (const std::optional<ToldApart>& found : pair.found) {
      if (!found) continue;
      ++shown;
      std::string why;
      const std::optional<Case> c = parse_case(print(found->c), &why);
      ASSERT_TRUE(c) << why;
      const auto again =
          told_apart(*c, dialect_named(pair.one).value(), dialect_named(pair.other).value(), lab);
      ASSERT_TRUE(again) << pair.one << " " << pair.other;
      EXPECT_EQ(again->one.value, found->one.value);
    }
    EXPECT_GE(shown, 1U) << pair.one << " " << pair.other;
  }
}

TEST(DialectPairs, NoDimensionIsToldApartThatIsSaidToChangeNoNumber) {
  for (const DimensionRow& row : report().dimensions) {
    EXPECT_NE(row.found.has_value(), !why_equal_numbers(row.dimension, row.one, row.other).empty())
        << row.dimension << " " << row.one << " " << row.other;
  }
}

TEST(DialectPairs, ASoundEngineOfOneIsWrongForTheOther) {
  // The twin, on dimensions that recurrent's arguments set and that change float32 numbers. Calls
  // in slots have invariants of their own.
  std::string why;
  const Lab twin(find_engine("twin", &why).value());
  size_t judged = 0;
  for (const DimensionRow& row : report().dimensions) {
    const bool shows = row.found && row.found->c.subject == Subject::recurrent &&
                       row.found->array == "S" && !row.dimension.ends_with("_storage");
    if (!shows || row.dimension == "state_layout" || !row.found->c.calls.empty()) continue;
    const Observation seen = twin.run(row.found->c);
    ASSERT_TRUE(seen.served().holds()) << seen.served().detail;
    const double got = seen.calls.front().arrays.at("S").at(row.found->index);
    EXPECT_LE(std::abs(got - row.found->one.value), row.found->one.bound) << row.dimension;
    EXPECT_GT(std::abs(got - row.found->other.value), row.found->other.bound) << row.dimension;
    ++judged;
  }
  EXPECT_GE(judged, 5U);
}

TEST(DialectPairs, TheDocumentSaysWhatTheToolSays) {
  std::ifstream in(std::string(SOURCE_DIR) + "/docs/dialects.md");
  std::stringstream document;
  document << in.rdbuf();
  std::string wanted = as_markdown(report());
  wanted.erase(0, wanted.find('\n') + 1);  // the line with the command as it was called
  EXPECT_THAT(document.str(), HasSubstr(wanted))
      << "write it anew: deltaproof dialects --summary docs/dialects.md";
}

class DialectsCli : public ProgramTest {};

TEST_F(DialectsCli, PrintsTablesAndWritesEveryCase) {
  const Ran ran = run("dialects --json " + path("dialects.json"));
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("case 1\ndeltaproof-case 1\n"));
  EXPECT_THAT(content("dialects.json"), HasSubstr("\"flashinfer_prefill\""));
}

TEST_F(DialectsCli, ADocumentWithoutThePartIsStatus5) {
  write("page.md", "nothing\n");
  const Ran ran = run("dialects --summary " + path("page.md"));
  EXPECT_EQ(ran.status, 5);
  EXPECT_THAT(ran.output, HasSubstr("dialects: begin"));
}

}  // namespace
}  // namespace gdn
