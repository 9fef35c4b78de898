// Triage of batches: addressing is the host's and is named, a rule that is wrong on a sequence is
// the operator's, and what each sequence is asked alone is what it was in the batch.
#include <gtest/gtest.h>

#include <ostream>

#include "ci/triage/batch.h"
#include "ci/triage/smallest.h"
#include "device/mutants/batches.h"

namespace gdn {
namespace {

Lab lab_of(const std::string& engine) {
  std::string why;
  std::optional<EngineSource> found = find_engine(engine, &why);
  EXPECT_TRUE(found) << why;
  return Lab(*found);
}

Case a_batch(const std::string& dialect, const std::string& pool, const std::string& calls) {
  const std::string text =
      "deltaproof-case 1\nsubject recurrent\nseed 7\n"
      "shape hidden_size=1 num_k_heads=1 head_k_dim=4 num_v_heads=2 head_v_dim=3 conv_kernel=1 "
      "num_layers=1 rms_norm_eps=1e-06 l2norm_eps=1e-06\ndialect deltaproof gate_input=log_g " +
      dialect + "\ntokens 6\npool " + pool + "\n" + calls + "\n";
  std::string why;
  const std::optional<Case> c = parse_case(text, &why);
  EXPECT_TRUE(c) << why;
  return c.value_or(Case{});
}

Case drafts() {
  return a_batch("state_writes=every_token start_slot=accepted_minus_one",
                 "slots=8 offset=0 gap=0 states=8",
                 "call recurrent tokens=6 lengths=3,3 slots=1,2,3,4,5,6 accepted=3,1");
}

Case snapshots(const std::string& lists) {
  return a_batch("state_writes=last_k_newest_first", "slots=4 offset=2 gap=5 states=4",
                 "call recurrent tokens=6 " + lists);
}

Case finals(const std::string& padding, const std::string& lists) {
  return a_batch("padding=" + padding, "slots=4 offset=2 gap=5 states=4",
                 "call recurrent tokens=6 " + lists);
}

struct Planted {
  const char* mutant;
  Case c;
};

void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.mutant; }

class ABatchFault : public testing::TestWithParam<Planted> {};

TEST_P(ABatchFault, IsTheHostsAndIsNamed) {
  const Planted& planted = GetParam();
  EXPECT_FALSE(suspect_operator(planted.c, lab_of("twin")));
  const std::optional<Suspicion> found =
      suspect_operator(planted.c, lab_of(std::string("mutant:") + planted.mutant));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->op, host);
  ASSERT_FALSE(found->explanations.empty()) << found->verdict.detail;
  EXPECT_EQ(found->explanations.front().name, planted.mutant);
  EXPECT_NE(found->verdict.detail.find("call 1"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Triage, ABatchFault,
    testing::Values(
        Planted{"accepted_count_off_by_one", drafts()},
        Planted{"newest_draft_taken_as_accepted", drafts()},
        Planted{"only_the_last_draft_is_stored", drafts()},
        Planted{"final_state_goes_to_the_start_slot", drafts()},
        Planted{"from_zero_of_the_first_sequence",
                finals("not_allowed", "lengths=2,4 slots=3,1 from_zero=1,0")},
        Planted{"from_zero_flag_of_one_byte",
                finals("not_allowed", "lengths=2,4 slots=3,1 from_zero=256,0")},
        Planted{"last_sequence_takes_the_tail", finals("not_allowed", "lengths=2,2 slots=3,1")},
        Planted{"empty_sequence_clears_its_slot",
                finals("not_allowed", "lengths=2,0,4 slots=3,2,1")},
        Planted{"slot_is_the_first_token", finals("not_allowed", "lengths=2,1,3")},
        Planted{"negative_slot_is_the_last_one",
                finals("negative_zeroes", "lengths=2,4 slots=-1,1")},
        Planted{"padded_output_is_not_zeroed", finals("negative_zeroes", "lengths=2,4 slots=-1,1")},
        Planted{"skipped_output_is_zeroed", finals("negative_skips", "lengths=2,4 slots=-1,1")},
        Planted{"slot_zero_is_never_padding",
                finals("not_positive_zeroes", "lengths=2,4 slots=0,1")},
        Planted{"state_store_runs_into_the_gap", finals("not_allowed", "lengths=2,4 slots=3,1")},
        Planted{"snapshots_oldest_first", snapshots("lengths=2,4 slots=3,1 snapshots=2")},
        Planted{"short_sequence_fills_every_snapshot",
                snapshots("lengths=2,4 slots=3,1 snapshots=3")}),
    [](const auto& planted) { return std::string(planted.param.mutant); });

TEST(Triage, ARuleThatIsWrongInABatchIsAskedOnTheSequenceAlone) {
  const std::optional<Suspicion> found = suspect_operator(
      finals("not_allowed", "lengths=2,4 slots=3,1"), lab_of("mutant:q_scale_twice"));
  ASSERT_TRUE(found);
  EXPECT_NE(found->op, host);
  EXPECT_TRUE(found->in_operator);
  EXPECT_TRUE(found->explanations.empty());
}

// A loop over sequences that ends, and does not go on, where one has no tokens.
gdn_status ends_at_an_empty_one(gdn_engine* engine, const gdn_recurrent_args* args) {
  mutants::Indices offsets = mutants::indices_of(engine, args->sequences, args->num_sequences + 1);
  for (size_t i = 2; i < offsets.size(); ++i) {
    const bool is_behind = offsets[i - 1] == offsets[i - 2];
    if (is_behind) offsets[i] = offsets[i - 1];
  }
  return mutants::call_with(engine, *args, &gdn_recurrent_args::sequences, offsets);
}

TEST(Triage, SequencesThatAreLeftOutAreTold) {
  gdn_api api = mutants::right_twin();
  api.recurrent = ends_at_an_empty_one;
  std::string why;
  const Lab lab(use_engine("ending", &api, &why).value());
  const std::optional<Suspicion> found =
      suspect_operator(finals("not_allowed", "lengths=2,0,4 slots=3,2,1"), lab);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->op, host);
  ASSERT_FALSE(found->explanations.empty()) << found->verdict.detail;
  EXPECT_EQ(found->explanations.front().name, "empty_sequence_ends_the_batch");
}

// What a pool holds beside the first state tells nothing of why it is wrong.
TEST(Triage, ARuleThatIsWrongInAPoolIsLookedIntoAsOnOneState) {
  const Case pooled = finals("not_allowed", "lengths=2,4 slots=3,1").with_calls({});
  ASSERT_GT(pooled.pool.states, 1);
  const std::optional<Located> found = located(pooled, lab_of("mutant:error_before_decay"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->op, Operator::delta_rule);
  EXPECT_FALSE(found->right_alone);
  EXPECT_FALSE(found->run.tokens.empty());
}

// The batch and its sequences one by one: the same numbers from the same states.
TEST(Triage, ASequenceAloneGivesWhatItGivesInItsBatch) {
  const Case c = finals("not_allowed", "lengths=2,0,4 slots=3,2,1 from_zero=0,0,1");
  const Lab lab = lab_of("twin");
  WrongBatch as_wrong;
  as_wrong.batch = batch_of(c, c.calls.front());
  as_wrong.pool = lab.first_pool(c);
  const std::map<std::string, std::vector<float>> whole = lab.run(c).calls.front().arrays;
  ASSERT_EQ(as_wrong.batch.sequences.size(), 2U);
  for (const BatchSequence& s : as_wrong.batch.sequences) {
    const Case alone = sequence_alone(c, as_wrong, s);
    ASSERT_EQ(why_invalid(alone), "");
    const std::map<std::string, std::vector<float>> one = lab.run(alone).calls.front().arrays;
    const auto v = c.shape.v_dim();
    const auto from = whole.at("o").begin() + s.first_token * v;
    EXPECT_EQ(one.at("o"), std::vector<float>(from, from + s.tokens * v));
    const auto slot = as_wrong.batch.store[static_cast<size_t>(s.first_token + s.tokens - 1)];
    const auto state = whole.at("S").begin() + slot * c.shape.state_count();
    EXPECT_EQ(one.at("S"), std::vector<float>(state, state + c.shape.state_count()));
  }
}

}  // namespace
}  // namespace gdn
