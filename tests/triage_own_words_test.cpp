// What an engine says of itself, read by triage: every wait of the simulated operator that is left
// out is named by its mutant's name, and the operator of every kernel, from the words alone.
#include <gtest/gtest.h>

#include <bit>
#include <regex>
#include <set>

#include "ci/triage/diagnose.h"
#include "ci/triage/own_words.h"
#include "device/mutants/simt_mutant.h"
#include "tests/case_files.h"

namespace gdn {
namespace {

TEST(OwnWords, AreOfAFaultOnlyWhereTheEngineFailed) {
  Verdict verdict;
  verdict.detail = "call 1: GDN_INTERNAL: an unexpected exception";
  verdict.outcome = Outcome::engine_error;
  EXPECT_TRUE(is_own_fault(verdict));
  EXPECT_FALSE(own_words(verdict.detail)) << "no accesses are named";
  verdict.outcome = Outcome::holds;
  EXPECT_FALSE(is_own_fault(verdict));
  verdict = {.outcome = Outcome::engine_error, .detail = "call 1: GDN_OUT_OF_MEMORY: no"};
  EXPECT_FALSE(is_own_fault(verdict));
}

TEST(OwnWords, NameTheWait) {
  const auto missing = own_words(
      "call 1: GDN_INTERNAL: 16 unordered accesses, first: vector (rounding, core 0, sequence 0, "
      "head 0, token 2, tile 0) writes output, slot 0 bytes [0, 32) and nothing orders it after "
      "copy_out (output, core 0, sequence 0, head 0, token 0, tile 0) reads them");
  ASSERT_TRUE(missing.has_value());
  EXPECT_EQ(missing->op, "delta_rule");
  EXPECT_EQ(missing->cause.name, "output_slot_freed_before_its_copy_ended");
}

TEST(OwnWords, NameTheKernelAndWhatItDid) {
  const auto race = own_words(
      "call 2, step: GDN_INTERNAL: race in gemv_q4, block (1, 0) thread 3 at "
      "/elsewhere/device/kernels/gemv_q4.cuh:90: read of 4 bytes; block (1, 0) thread 35 at "
      "/elsewhere/device/kernels/gemv_q4.cuh:80");
  ASSERT_TRUE(race.has_value());
  EXPECT_EQ(race->op, "in_proj");
  EXPECT_EQ(race->cause.name, "race_in_gemv_q4");
  EXPECT_EQ(race->cause.sentence,
            "barrier missing: race in kernel gemv_q4, block (1, 0) thread 3 at "
            "device/kernels/gemv_q4.cuh:90: read of 4 bytes; block (1, 0) thread 35 at "
            "device/kernels/gemv_q4.cuh:80");
  const auto launch = own_words("bad launch in conv: 0 blocks, but 1 to 2147483647 are taken");
  ASSERT_TRUE(launch.has_value());
  EXPECT_EQ(launch->op, "conv");
  EXPECT_EQ(launch->cause.name, "bad_launch_in_conv");
}

// A kernel that is given memory that is gone does what it was told.
TEST(OwnWords, BlameTheHostForMemoryThatIsGone) {
  const auto gone = own_words("use after free in gemv_q4, block (0, 0) thread 0: read of 16 bytes");
  ASSERT_TRUE(gone.has_value());
  EXPECT_EQ(gone->op, "host");
  EXPECT_FALSE(own_words("bad host access: read of 8 bytes outside live memory"));
}

TEST(OwnWords, OfAnotherEngineNameItsKernel) {
  const auto other = own_words("call 1: GDN_INTERNAL: kernel gated_norm gave up");
  ASSERT_TRUE(other.has_value());
  EXPECT_EQ(other->op, "gated_norm");
  EXPECT_FALSE(own_words("call 1: GDN_INTERNAL: kernel 7 takes 8 bytes of parameters, got 4"));
  EXPECT_FALSE(own_words("race in a_kernel_of_no_operator, block (0, 0) thread 1: read"));
}

TEST(OwnWords, KnowEveryKernelThatTheEngineLaunches) {
  const std::string table = file_text(SOURCE_DIR "/device/host/kernel_table.h");
  const std::regex kernel(R"(Entry<kernels::(\w+)>)");
  size_t known = 0;
  for (std::sregex_iterator at(table.begin(), table.end(), kernel), end; at != end; ++at) {
    const std::string name = (*at)[1];
    const auto words = own_words("race in " + name + ", block (0, 0) thread 1: read of 4 bytes");
    EXPECT_TRUE(words && words->op != "host") << name;
    ++known;
  }
  EXPECT_GE(known, 10U);
}

// The case of a seed on which an invariant fails, triaged.
std::optional<Finding> triaged(const std::string& name, const std::string& invariant_name) {
  std::string why;
  const std::optional<EngineSource> engine = find_engine(name, &why);
  EXPECT_TRUE(engine.has_value()) << why;
  const Lab lab(*engine);
  const Invariant* const invariant = invariant_named(invariant_name);
  for (const CorpusFile& seed : case_files("seeds")) {
    if (!invariant->claim.applies(seed.content)) continue;
    if (check(*invariant, seed.content, lab).outcome != Outcome::fails) continue;
    return diagnose({seed.content, engine->name, invariant, seed.name}, lab);
  }
  return std::nullopt;
}

TEST(WordsOfAnInvariant, ThatTellOfARefusalBlameTheHost) {
  for (const auto& [mutant, invariant] :
       {std::pair("mutant:no_slots_taken_as_one", "recurrent_refuses_wrong_arguments"),
        std::pair("mutant:last_way_of_padding_refused", "choices_without_a_use_change_nothing")}) {
    const std::optional<Finding> finding = triaged(mutant, invariant);
    ASSERT_TRUE(finding.has_value()) << mutant;
    EXPECT_EQ(finding->op, "host") << mutant << ": " << finding->verdict.detail;
  }
}

// The last place of the conv's output flips: within every bound, and not what the simulator gives.
gdn_status nudged_conv(gdn_engine* engine, gdn_operator op, const gdn_shape* shape,
                       const gdn_array* inputs, size_t num_inputs, const gdn_array* outputs,
                       size_t num_outputs) {
  const gdn_status status =
      mutants::right_simt().apply(engine, op, shape, inputs, num_inputs, outputs, num_outputs);
  if (status != GDN_OK || op != GDN_CONV_SILU || outputs[0].count == 0) return status;
  auto* const first = static_cast<float*>(outputs[0].data);
  *first = std::bit_cast<float>(std::bit_cast<uint32_t>(*first) ^ 1U);
  return status;
}

TEST(OtherBitsThanTheSimulators, AreOfTheOperatorThatGivesThem) {
  gdn_api api = mutants::right_simt();
  api.name = "nudged";
  api.apply = nudged_conv;
  std::string why;
  const std::optional<EngineSource> engine = use_engine("nudged", &api, &why);
  ASSERT_TRUE(engine.has_value()) << why;
  const Lab lab(*engine);
  Case c;
  c.subject = Subject::conv;
  c.seed = 3;
  c.shape = {.hidden_size = 4,
             .num_k_heads = 1,
             .head_k_dim = 4,
             .num_v_heads = 1,
             .head_v_dim = 4,
             .conv_kernel = 4};
  const Invariant* const invariant = invariant_named("device_equals_simulator");
  ASSERT_EQ(check(*invariant, c, lab).outcome, Outcome::fails);
  const Finding finding = diagnose({c, "nudged", invariant, "a test"}, lab);
  EXPECT_EQ(finding.op, "conv") << finding.verdict.detail;
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
