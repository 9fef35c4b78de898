// Every mutant against the invariants that name it: each of them catches it on some seed, and an
// invariant that names a mutant names one that exists.
#include <gtest/gtest.h>

#include <sstream>

#include "invariants/harness/invariant.h"
#include "tests/case_files.h"

namespace gdn {
namespace {

std::vector<std::string> mutant_names() {
  std::vector<std::string> names;
  for (size_t i = 0; i < gdn_mutant_count(); ++i) names.emplace_back(gdn_mutant_at(i)->name);
  return names;
}

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
                       const std::vector<CorpusFile>& seeds) {
  for (const CorpusFile& seed : seeds) {
    if (check(invariant, seed.content, lab).outcome == Outcome::fails) return seed.name;
  }
  return "";
}

// A test for each mutant, so that they can run side by side.
class EachMutant : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Every, EachMutant, testing::ValuesIn(mutant_names()),
                         [](const auto& mutant) { return mutant.param; });

TEST_P(EachMutant, IsKilledByEveryInvariantThatNamesIt) {
  const std::vector<CorpusFile> seeds = case_files("seeds");
  std::string why;
  const std::optional<EngineSource> engine = find_engine("mutant:" + GetParam(), &why);
  ASSERT_TRUE(engine.has_value()) << why;
  const Lab lab(*engine);
  const std::vector<const Invariant*> killers = killers_of(GetParam());
  EXPECT_FALSE(killers.empty()) << "no invariant names it among its kills";
  for (const Invariant* invariant : killers) {
    EXPECT_NE(first_kill(*invariant, lab, seeds), "")
        << "it survives " << invariant->name << " on all " << seeds.size() << " seeds";
  }
}

// The statistical tier fails nothing: what it must catch, it must suspect, on some seed.
TEST_P(EachMutant, IsSuspectedByEveryInvariantThatSaysSo) {
  std::string why;
  const Lab lab(*find_engine("mutant:" + GetParam(), &why));
  for (const Invariant& invariant : registry()) {
    const std::vector<std::string>& suspects = invariant.claim.suspects;
    if (std::find(suspects.begin(), suspects.end(), GetParam()) == suspects.end()) continue;
    const std::vector<CorpusFile> seeds = case_files("seeds");
    EXPECT_TRUE(std::any_of(seeds.begin(), seeds.end(),
                            [&](const CorpusFile& seed) {
                              return check(invariant, seed.content, lab).outcome ==
                                     Outcome::suspicious;
                            }))
        << invariant.name << " suspects it on none of " << seeds.size() << " seeds";
  }
}

TEST(Mutants, EveryNameAmongTheKillsIsAMutant) {
  for (const Invariant& invariant : registry()) {
    std::vector<std::string> named = invariant.claim.kills;
    named.insert(named.end(), invariant.claim.suspects.begin(), invariant.claim.suspects.end());
    EXPECT_FALSE(named.empty()) << invariant.name
                                << ": a check is worth what it catches; name a mutant";
    for (const std::string& name : named) {
      std::string why;
      EXPECT_TRUE(find_engine("mutant:" + name, &why).has_value()) << invariant.name << ": " << why;
    }
  }
}

TEST(Mutants, AreSortedAndSayWhatTheirBugIs) {
  ASSERT_GT(gdn_mutant_count(), 0U);
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

// The tables that the tool pasted into invariants/README.md: the column `name` of each row of the
// table whose header has it.
std::vector<std::string> pasted_column(const std::string& table, const std::string& name) {
  std::vector<std::string> column;
  std::istringstream lines(
      file_text(std::filesystem::path(SOURCE_DIR) / "invariants" / "README.md"));
  bool inside = false, in_table = false;
  size_t index = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line == "<!-- catalogue: begin -->") inside = true;
    if (line == "<!-- catalogue: end -->") inside = false;
    if (!inside || !line.starts_with("| ")) in_table = in_table && line.starts_with("|---");
    if (!inside || !line.starts_with("| ")) continue;
    std::vector<std::string> cells;
    std::istringstream words(line);
    for (std::string cell; std::getline(words, cell, '|');) {
      cells.push_back(cell.size() < 2 ? "" : cell.substr(1, cell.size() - 2));
    }
    if (in_table && index < cells.size()) column.push_back(cells[index]);
    if (in_table || cells[1] != table) continue;
    in_table = true;
    index = static_cast<size_t>(std::find(cells.begin(), cells.end(), name) - cells.begin());
  }
  return column;
}

// What is new may be missing from the tables, so that an invariant or a mutant needs no other edit;
// what is gone or renamed may not stand there.
TEST(Catalogue, ThatIsPastedIntoTheReadmeNamesNothingThatIsGone) {
  const std::vector<std::string> mutants = mutant_names();
  const std::vector<std::string> invariants = pasted_column("no.", "invariant");
  const std::vector<std::string> fallen = pasted_column("mutant", "mutant");
  const char* again = " is gone; run: deltaproof matrix --summary invariants/README.md";
  EXPECT_GE(invariants.size(), 40U);
  EXPECT_GE(fallen.size(), 40U);
  for (const std::string& name : invariants)
    EXPECT_NE(invariant_named(name), nullptr) << name << again;
  for (const std::string& name : fallen) {
    EXPECT_TRUE(std::find(mutants.begin(), mutants.end(), name) != mutants.end()) << name << again;
  }
}

}  // namespace
}  // namespace gdn
