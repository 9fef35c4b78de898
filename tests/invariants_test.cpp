// Every invariant on every seed, with every engine that works here: all of them hold. A test for
// each pair, so that they can run side by side and a failure has both names.
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

std::vector<std::string> invariant_names() {
  std::vector<std::string> names;
  for (const Invariant& invariant : registry()) names.push_back(invariant.name);
  return names;
}

// A claim that was put to the test less often is not shown to hold.
constexpr size_t holds_min = 3;
// What costs many runs is asked of the twin on all seeds; of engines that run on the simulator or
// a GPU until it held so often.
constexpr size_t holds_enough = 12;

class Invariants : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};
INSTANTIATE_TEST_SUITE_P(Every, Invariants,
                         ::testing::Combine(::testing::ValuesIn(gdn::testing::engines_here()),
                                            ::testing::ValuesIn(invariant_names())),
                         [](const auto& both) {
                           return std::get<0>(both.param) + "_" + std::get<1>(both.param);
                         });

TEST_P(Invariants, HoldsOnEverySeed) {
  const auto& [engine, name] = GetParam();
  const Invariant& invariant = *invariant_named(name);
  const std::vector<std::string>& judges = invariant.claim.judges;
  if (!judges.empty() && std::find(judges.begin(), judges.end(), engine) == judges.end()) return;
  const Lab lab(engine_named(engine));
  const bool all = engine == "twin" || invariant.claim.one_in == 1;
  size_t held = 0;
  for (const CorpusFile& seed : case_files("seeds")) {
    if (!all && held >= holds_enough) break;
    const Verdict verdict = check(invariant, seed.content, lab);
    if (verdict.outcome == Outcome::not_applicable) continue;
    EXPECT_TRUE(verdict.holds()) << seed.name << ": " << name_of(verdict.outcome) << ": "
                                 << verdict.detail;
    EXPECT_GT(verdict.elements, 0U) << seed.name;
    held += verdict.holds();
  }
  EXPECT_GE(held, holds_min);
}

TEST(Seeds, AreEachAskedOfAnInvariant) {
  for (const CorpusFile& seed : case_files("seeds")) {
    const auto applies = [&](const Invariant& one) { return one.claim.applies(seed.content); };
    EXPECT_TRUE(std::any_of(registry().begin(), registry().end(), applies)) << seed.name;
  }
}

}  // namespace
}  // namespace gdn
