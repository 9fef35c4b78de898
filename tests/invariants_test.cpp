// Every invariant on every seed, with every engine that works here: all of them hold.
#include <gtest/gtest.h>

#include "invariants/harness/invariant.h"
#include "tests/case_files.h"
#include "tests/opened_engine.h"

namespace gdn {
namespace {

EngineSource engine_named(const std::string& name) {
  std::string why;
  std::optional<EngineSource> engine = find_engine(name, &why);
  EXPECT_TRUE(engine.has_value()) << why;
  return *std::move(engine);
}

ON_EVERY_ENGINE(Invariants);

TEST_P(Invariants, AllHoldOnEverySeed) {
  const Lab lab(engine_named(GetParam()));
  std::map<std::string, size_t> held;
  for (const CaseFile& seed : case_files("seeds")) {
    size_t applied = 0;
    for (const Invariant& invariant : registry()) {
      const Verdict verdict = check(invariant, seed.content, lab);
      if (verdict.outcome == Outcome::not_applicable) continue;
      ++applied;
      EXPECT_TRUE(verdict.holds()) << invariant.name << " on " << seed.name << ": "
                                   << name_of(verdict.outcome) << ": " << verdict.detail;
      EXPECT_GT(verdict.elements, 0U) << invariant.name << " on " << seed.name;
      held[invariant.name] += verdict.holds();
    }
    EXPECT_GT(applied, 0U) << seed.name << ": no invariant applies to it";
  }
  // A claim that was never put to the test is not shown to hold.
  for (const Invariant& invariant : registry()) {
    const std::vector<std::string>& judges = invariant.claim.judges;
    const bool among = std::find(judges.begin(), judges.end(), GetParam()) != judges.end();
    if (!judges.empty() && !among) continue;
    EXPECT_GE(held[invariant.name], 3U) << invariant.name;
  }
}

}  // namespace
}  // namespace gdn
