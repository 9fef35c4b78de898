// Cases that were judged wrongly once: the invariant that each is filed under has nothing to say
// against a right engine.
#include <gtest/gtest.h>

#include "invariants/harness/invariant.h"
#include "tests/case_files.h"
#include "tests/opened_engine.h"

namespace gdn {
namespace {

ON_EVERY_ENGINE(Regressions);

TEST_P(Regressions, AreNotHeldAgainstIt) {
  std::string why;
  const std::optional<EngineSource> engine = find_engine(GetParam(), &why);
  ASSERT_TRUE(engine.has_value()) << why;
  const Lab lab(*engine);
  const std::vector<CorpusFile> files = case_files("regressions");
  ASSERT_FALSE(files.empty());
  for (const CorpusFile& file : files) {
    const std::string name = std::filesystem::path(file.name).parent_path().filename();
    const Invariant* const invariant = invariant_named(name);
    ASSERT_NE(invariant, nullptr) << file.name << ": no invariant of its folder's name";
    const std::vector<std::string>& judges = invariant->claim.judges;
    const bool judged =
        judges.empty() || std::find(judges.begin(), judges.end(), GetParam()) != judges.end();
    if (!judged) continue;
    const Verdict verdict = check(*invariant, file.content, lab);
    EXPECT_GT(verdict.elements, 0U) << file.name << ": " << verdict.detail;
    // What is tolerated is undecided; what is wrong fails.
    const bool accepted = verdict.holds() || verdict.outcome == Outcome::undecided;
    EXPECT_TRUE(accepted) << file.name << ": " << verdict.detail;
  }
}

}  // namespace
}  // namespace gdn
