// Every mutant against the invariants that name it: each of them catches it on some seed, and an
// invariant that names a mutant names one that exists.
#include <gtest/gtest.h>

#include "invariants/harness/invariant.h"
#include "tests/case_files.h"

namespace gdn {
namespace {

std::vector<const Invariant*> killers_of(const std::string& mutant) {
  std::vector<const Invariant*> killers;
  for (const Invariant& invariant : registry()) {
    const std::vector<std::string>& kills = invariant.claim.kills;
    if (std::find(kills.begin(), kills.end(), mutant) != kills.end()) {
      killers.push_back(&invariant);
    }
  }
  return killers;
}

// Of seeds: the first on which the invariant fails for this engine, or an empty name.
std::string first_kill(const Invariant& invariant, const Lab& lab,
                       const std::vector<CaseFile>& seeds) {
  for (const CaseFile& seed : seeds) {
    if (check(invariant, seed.content, lab).outcome == Outcome::fails) return seed.name;
  }
  return "";
}

TEST(Mutants, EachIsKilledByEveryInvariantThatNamesIt) {
  const std::vector<CaseFile> seeds = case_files("seeds");
  ASSERT_GT(gdn_mutant_count(), 0U);
  for (size_t i = 0; i < gdn_mutant_count(); ++i) {
    const std::string name = gdn_mutant_at(i)->name;
    std::string why;
    const std::optional<EngineSource> engine = find_engine("mutant:" + name, &why);
    ASSERT_TRUE(engine.has_value()) << why;
    const Lab lab(*engine);
    const std::vector<const Invariant*> killers = killers_of(name);
    EXPECT_FALSE(killers.empty()) << name << ": no invariant names it among its kills";
    for (const Invariant* invariant : killers) {
      EXPECT_NE(first_kill(*invariant, lab, seeds), "")
          << name << " survives " << invariant->name << " on all " << seeds.size() << " seeds";
    }
  }
}

TEST(Mutants, EveryNameAmongTheKillsIsAMutant) {
  for (const Invariant& invariant : registry()) {
    EXPECT_FALSE(invariant.claim.kills.empty())
        << invariant.name << ": a check is worth what it catches; name a mutant";
    for (const std::string& name : invariant.claim.kills) {
      std::string why;
      EXPECT_TRUE(find_engine("mutant:" + name, &why).has_value()) << invariant.name << ": " << why;
    }
  }
}

TEST(Mutants, AreSortedAndSayWhatTheirBugIs) {
  std::string before;
  for (size_t i = 0; i < gdn_mutant_count(); ++i) {
    const gdn_mutant& mutant = *gdn_mutant_at(i);
    EXPECT_LT(before, mutant.name);
    EXPECT_GT(std::string_view(mutant.bug).size(), 10U) << mutant.name;
    const std::string_view op = mutant.op;
    EXPECT_TRUE(op == "host" || operator_named(op).has_value()) << mutant.name << ": " << op;
    before = mutant.name;
  }
  EXPECT_EQ(gdn_mutant_at(gdn_mutant_count()), nullptr);
}

}  // namespace
}  // namespace gdn
