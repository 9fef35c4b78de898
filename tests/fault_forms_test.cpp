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

// Is it a seed that can show a fault of the operator? Its own come first.
int rank_of(const CorpusFile& seed, Operator op) {
  const Subject subject = seed.content.subject;
  if (operator_of(subject) == op && subject != Subject::recurrent) return 0;
  if (op == Operator::dequant && subject == Subject::in_proj) return 1;
  if (subject == Subject::layer) return 2;
  return operator_of(subject) == op ? 3 : 4;
}

struct Answers {
  size_t shown = 0, named = 0;  // of seeds
  std::string otherwise;        // what was said where the bug was not named
};

// Asked about the first few seeds that show the fault.
Answers answers_about(const gdn_mutant& mutant, Operator op, std::vector<CorpusFile> seeds) {
  constexpr size_t enough = 5;
  std::stable_sort(seeds.begin(), seeds.end(), [op](const CorpusFile& a, const CorpusFile& b) {
    return rank_of(a, op) < rank_of(b, op);
  });
  const Lab lab = lab_of(std::string("mutant:") + mutant.name);
  Answers answers;
  for (const CorpusFile& seed : seeds) {
    const bool asks = rank_of(seed, op) < 4 && lab.why_not(seed.content).empty();
    if (!asks || answers.shown == enough) continue;
    const CaseEvidence evidence = evidence_of(seed.content, lab);
    for (const OperatorRun& run : evidence.runs) {
      const bool decodes = op == Operator::dequant && run.weights.tiles != nullptr;
      if ((run.op != op && !decodes) || is_right(run)) continue;
      const std::vector<Explanation> all = explanations_of(run);
      const bool named = !all.empty() && is_cause_of(all.front(), mutant.name);
      ++answers.shown;
      answers.named += named;
      if (!named) {
        answers.otherwise += " " + seed.name + ": " + (all.empty() ? "nothing" : all.front().name);
      }
      break;
    }
  }
  return answers;
}

TEST(FaultForms, NameTheBugOfNumericMutants) {
  const std::vector<CorpusFile> seeds = small_seeds();
  size_t shown = 0, named = 0;
  for (size_t i = 0; i < gdn_mutant_count(); ++i) {
    const gdn_mutant& mutant = *gdn_mutant_at(i);
    const std::optional<Operator> op = operator_named(mutant.op);
    if (!op) continue;
    const Answers answers = answers_about(mutant, *op, seeds);
    shown += answers.shown > 0;
    named += answers.shown > 0 && 2 * answers.named >= answers.shown;
    if (answers.named < answers.shown || answers.shown == 0) {
      std::printf("%s: named on %zu of %zu seeds;%s\n", mutant.name, answers.named, answers.shown,
                  answers.otherwise.c_str());
    }
  }
  std::printf("%zu of %zu mutants that show on a seed are named on at least half of theirs\n",
              named, shown);
}

}  // namespace
}  // namespace gdn
