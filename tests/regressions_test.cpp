// Cases that were judged wrongly once: the invariant that each is filed under has nothing to say
// against the right engine.
#include <gtest/gtest.h>

#include "invariants/harness/invariant.h"
#include "tests/case_files.h"

namespace gdn {
namespace {

TEST(Regressions, NoneOfThemIsHeldAgainstTheTwin) {
  std::string why;
  const std::optional<EngineSource> twin = find_engine("twin", &why);
  ASSERT_TRUE(twin.has_value()) << why;
  const Lab lab(*twin);
  const std::vector<CaseFile> files = case_files("regressions");
  ASSERT_FALSE(files.empty());
  for (const CaseFile& file : files) {
    const std::string name = std::filesystem::path(file.name).parent_path().filename();
    const Invariant* const invariant = invariant_named(name);
    ASSERT_NE(invariant, nullptr) << file.name << ": no invariant of its folder's name";
    const Verdict verdict = check(*invariant, file.content, lab);
    EXPECT_GT(verdict.elements, 0U) << file.name << ": " << verdict.detail;
    // What is tolerated is undecided; what is wrong fails.
    const bool accepted = verdict.holds() || verdict.outcome == Outcome::undecided;
    EXPECT_TRUE(accepted) << file.name << ": " << verdict.detail;
  }
}

}  // namespace
}  // namespace gdn
