// The search of causes: what a mutant gave is explained by its bug first, what a right engine gave
// and what chance gave by nothing.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "ci/triage/fault_form.h"
#include "reference/rng.h"
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
  // Forms explain one sequence in one slot: of a batch triage says which call is wrong.
  if (subject == Subject::recurrent && !seed.content.calls.empty()) return 4;
  return operator_of(subject) == op ? 3 : 4;
}

struct Answers {
  size_t shown = 0, named = 0;  // of seeds
  std::string otherwise;        // what was said where the bug was not named
};

// Asked about the first few seeds that show the fault.
Answers answers_about(const gdn_mutant& mutant, Operator op, const std::vector<CorpusFile>& all) {
  constexpr size_t enough = 3;
  std::vector<const CorpusFile*> seeds;
  for (const CorpusFile& seed : all) seeds.push_back(&seed);
  std::stable_sort(seeds.begin(), seeds.end(), [op](const CorpusFile* a, const CorpusFile* b) {
    return rank_of(*a, op) < rank_of(*b, op);
  });
  const Lab lab = lab_of(std::string("mutant:") + mutant.name);
  Answers answers;
  for (const CorpusFile* at : seeds) {
    const CorpusFile& seed = *at;
    if (answers.shown == enough) break;
    if (rank_of(seed, op) == 4 || !lab.why_not(seed.content).empty()) continue;
    const CaseEvidence evidence = evidence_of(seed.content, lab);
    for (const OperatorRun& run : evidence.runs) {
      const bool decodes = op == Operator::dequant && run.weights.tiles != nullptr;
      if ((run.op != op && !decodes) || is_right(run)) continue;
      const std::vector<Explanation> causes = explanations_of(run);
      const bool named = !causes.empty() && is_cause_of(causes.front(), mutant.name);
      ++answers.shown;
      answers.named += named;
      const std::string said = causes.empty() ? "nothing" : causes.front().name;
      if (!named) answers.otherwise += " " + seed.name + ": " + said;
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
  EXPECT_GE(shown, 146U);
  EXPECT_GE(named, 133U) << "a form explains less than it did";
}

// A beta above 1 comes from no layer, so that no seed has one.
TEST(FaultForms, NameAClampOfBeta) {
  for (const CorpusFile& seed : case_files("seeds")) {
    if (seed.name != "seeds/delta_rule/smooth.case") continue;
    const auto heads = static_cast<size_t>(seed.content.shape.num_v_heads);
    const Case above = seed.content.with_numbers("beta", std::vector<float>(heads, 1.5F));
    const CaseEvidence evidence = evidence_of(above, lab_of("mutant:beta_clamped_to_one"));
    ASSERT_EQ(evidence.runs.size(), 1U);
    const std::vector<Explanation> all = explanations_of(evidence.runs[0]);
    ASSERT_FALSE(all.empty());
    EXPECT_EQ(all.front().name, "beta_clamped_to_one");
    EXPECT_LE(all.front().worst_ratio, 1);
  }
}

// Seeds of one subject each, and a layer's.
std::vector<CorpusFile> smooth_seeds() {
  std::vector<CorpusFile> seeds;
  for (CorpusFile& seed : small_seeds()) {
    const bool is_smooth = seed.name.ends_with("/smooth.case") ||
                           seed.name.ends_with("/four_bit.case") ||
                           seed.name.ends_with("/grouped_heads.case");
    if (is_smooth) seeds.push_back(std::move(seed));
  }
  return seeds;
}

TEST(FaultForms, FindNothingInASoundEngine) {
  size_t runs = 0;
  for (const char* engine : {"twin", "simt"}) {
    const Lab lab = lab_of(engine);
    for (const CorpusFile& seed : smooth_seeds()) {
      for (const OperatorRun& run : evidence_of(seed.content, lab).runs) {
        ++runs;
        EXPECT_TRUE(explanations_of(run).empty()) << seed.name << ", " << name_of(run.op);
      }
    }
  }
  EXPECT_GE(runs, 40U);
}

// How chance changes numbers: one of them, all of them, or those of one half.
enum class Changed { one, all, half };

void change(OperatorRun& run, Changed which, int exponent, Rng& rng) {
  Evidence& at = run.tokens.back();
  for (auto& [name, numbers] : at.gave) {
    const auto count = static_cast<int64_t>(numbers.size());
    const auto chosen = static_cast<size_t>(rng.range(0, count - 1));
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (which == Changed::one && i != chosen) continue;
      if (which == Changed::half && i >= numbers.size() / 2) continue;
      numbers[i] += std::ldexp(rng.signed_unit(), exponent) * (std::abs(numbers[i]) + 0x1p-10F);
    }
  }
}

TEST(FaultForms, FindNothingInChance) {
  const Lab lab = lab_of("twin");
  Rng rng{20261130};
  size_t wrong = 0;
  for (const CorpusFile& seed : smooth_seeds()) {
    for (const OperatorRun& right : evidence_of(seed.content, lab).runs) {
      for (const Changed which : {Changed::one, Changed::all, Changed::half}) {
        for (const int exponent : {-20, -16, -10, -4, 0, 4}) {
          OperatorRun run = right;
          change(run, which, exponent, rng);
          if (is_right(run)) continue;
          ++wrong;
          const std::vector<Explanation> all = explanations_of(run);
          EXPECT_TRUE(all.empty()) << seed.name << ", " << name_of(run.op) << ", 2^" << exponent
                                   << ": " << (all.empty() ? "" : all.front().name);
        }
      }
    }
  }
  EXPECT_GE(wrong, 200U);
}

}  // namespace
}  // namespace gdn
