// The search of causes: what a mutant gave is explained by its bug first, what a right engine gave
// and what chance gave by nothing.
#include <gtest/gtest.h>

#include <cstdio>

#include "ci/triage/fault_form.h"
#include "tests/case_files.h"
#include "tests/operator_evidence.h"

namespace gdn {
namespace {

using testing::CaseEvidence;
using testing::evidence_of;
using testing::is_right;

// Seeds of moderate size: those of whole models take seconds each.
std::vector<CorpusFile> small_seeds() {
  std::vector<CorpusFile> seeds;
  for (CorpusFile& seed : case_files("seeds")) {
    const bool is_large = seed.name.find("qwen") != std::string::npos;
    if (!is_large) seeds.push_back(std::move(seed));
  }
  return seeds;
}

Lab lab_of(const std::string& engine) {
  std::string why;
  std::optional<EngineSource> source = find_engine(engine, &why);
  EXPECT_TRUE(source.has_value()) << why;
  return Lab(*std::move(source));
}

struct Found {
  size_t shown = 0, named = 0;  // seeds
  std::string first;            // what was said where it was not named
};

TEST(FaultForms, NameTheBugOfNumericMutants) {
  const std::vector<CorpusFile> seeds = small_seeds();
  size_t mutants = 0, named = 0, shown = 0;
  for (size_t i = 0; i < gdn_mutant_count(); ++i) {
    const gdn_mutant& mutant = *gdn_mutant_at(i);
    const std::optional<Operator> op = operator_named(mutant.op);
    if (!op) continue;
    ++mutants;
    const Lab lab = lab_of(std::string("mutant:") + mutant.name);
    Found found;
    for (const CorpusFile& seed : seeds) {
      if (!lab.why_not(seed.content).empty()) continue;
      const CaseEvidence evidence = evidence_of(seed.content, lab);
      for (const OperatorRun& run : evidence.runs) {
        const bool decodes = *op == Operator::dequant && run.weights.tiles != nullptr;
        if ((run.op != *op && !decodes) || is_right(run)) continue;
        ++found.shown;
        const std::vector<Explanation> all = explanations_of(run);
        if (!all.empty() && is_cause_of(all.front(), mutant.name)) {
          ++found.named;
        } else {
          found.first += " " + seed.name + ":" + (all.empty() ? "-" : all.front().name);
        }
        break;
      }
    }
    shown += found.shown > 0;
    named += found.named > 0;
    std::printf("%-36s %3zu/%zu%s\n", mutant.name, found.named, found.shown,
                found.first.substr(0, 300).c_str());
  }
  std::printf("%zu numeric mutants, %zu shown by a seed, %zu named\n", mutants, shown, named);
}

}  // namespace
}  // namespace gdn
