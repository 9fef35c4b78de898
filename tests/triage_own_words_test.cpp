// What an engine says of itself, read by triage: every wait of the simulated operator that is left
// out is named by its mutant's name, from the words alone.
#include <gtest/gtest.h>

#include <set>

#include "ci/triage/diagnose.h"
#include "ci/triage/own_words.h"
#include "tests/case_files.h"

namespace gdn {
namespace {

TEST(OwnWords, AreOfAFaultOnlyWhereTheEngineFailed) {
  Verdict verdict;
  verdict.detail = "call 1: GDN_INTERNAL: an unexpected exception";
  verdict.outcome = Outcome::engine_error;
  EXPECT_TRUE(is_own_fault(verdict));
  EXPECT_FALSE(missing_wait(verdict.detail)) << "no accesses are named";
  verdict.outcome = Outcome::holds;
  EXPECT_FALSE(is_own_fault(verdict));
  verdict = {.outcome = Outcome::engine_error, .detail = "call 1: GDN_OUT_OF_MEMORY: no"};
  EXPECT_FALSE(is_own_fault(verdict));
}

TEST(OwnWords, NameTheWait) {
  const auto missing = missing_wait(
      "call 1: GDN_INTERNAL: 16 unordered accesses, first: vector (rounding, core 0, sequence 0, "
      "head 0, token 2, tile 0) writes output, slot 0 bytes [0, 32) and nothing orders it after "
      "copy_out (output, core 0, sequence 0, head 0, token 0, tile 0) reads them");
  ASSERT_TRUE(missing.has_value());
  EXPECT_EQ(missing->name, "output_slot_freed_before_its_copy_ended");
}

class OwnWordsOf : public ::testing::TestWithParam<std::string> {};

std::vector<std::string> waits() {
  return invariant_named("recurrent_meets_no_fault")->claim.kills;
}
INSTANTIATE_TEST_SUITE_P(Every, OwnWordsOf, ::testing::ValuesIn(waits()),
                         [](const auto& mutant) { return mutant.param; });

TEST_P(OwnWordsOf, TellTheMutantAndItsOperator) {
  std::string why;
  const std::optional<EngineSource> engine = find_engine("mutant:" + GetParam(), &why);
  ASSERT_TRUE(engine.has_value()) << why;
  const Lab lab(*engine);
  const Invariant* const invariant = invariant_named("recurrent_meets_no_fault");
  for (const CorpusFile& seed : case_files("seeds")) {
    if (check(*invariant, seed.content, lab).outcome != Outcome::fails) continue;
    const Finding finding = diagnose({seed.content, engine->name, invariant, seed.name}, lab);
    EXPECT_EQ(finding.op, "delta_rule");
    ASSERT_FALSE(finding.explanations.empty()) << finding.verdict.detail;
    EXPECT_EQ(finding.explanations.front().name, GetParam()) << finding.verdict.detail;
    return;
  }
  FAIL() << "no seed shows it";
}

}  // namespace
}  // namespace gdn
