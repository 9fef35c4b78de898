// Triage of batches: a fault of the numbers is found in one sequence alone; one of what starts
// where is told by the batch that would give what was got.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ci/triage/batch_causes.h"
#include "ci/triage/diagnose.h"
#include "device/mutants/batches.h"

namespace gdn {
namespace {

using testing::HasSubstr;

Lab lab_of(const std::string& engine) {
  std::string why;
  std::optional<EngineSource> found = find_engine(engine, &why);
  EXPECT_TRUE(found) << why;
  return Lab(*found);
}

// Two steps of three sequences: of drafts, then from what was accepted; the last from zero.
Case a_batch() {
  Case c;
  c.subject = Subject::recurrent;
  c.seed = 11;
  c.shape = {.hidden_size = 1,
             .num_k_heads = 1,
             .head_k_dim = 3,
             .num_v_heads = 2,
             .head_v_dim = 4,
             .conv_kernel = 1};
  c.tokens = 21;
  c.pool = {.slots = 11, .states = 11};
  c.dialect.gate_input = Dialect::GateInput::log_g;
  c.dialect.sequence_coding = Dialect::SequenceCoding::lengths;
  c.dialect.state_writes = Dialect::StateWrites::every_token;
  c.dialect.start_slot = Dialect::StartSlot::accepted_minus_one;
  Call first = batch_call({4, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  Call second = batch_call({4, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0}, 10);
  second.accepted = {3, 1, 2};
  second.from_zero = {0, 0, 1};
  second.given[Argument::tokens] = 11;
  c.calls = {first, second};
  return c;
}

Finding diagnosed(const Case& c, const Lab& lab) {
  const Invariant* const invariant = invariant_named("recurrent_calls_within_bound");
  EXPECT_EQ(check(*invariant, c, lab).outcome, Outcome::fails);
  return diagnose({c, lab.engine(), invariant, "a test"}, lab);
}

class AFaultOfABatch : public testing::TestWithParam<const char*> {};

TEST_P(AFaultOfABatch, IsTheHostsAndIsNamed) {
  const Finding finding = diagnosed(a_batch(), lab_of(std::string("mutant:") + GetParam()));
  EXPECT_EQ(finding.op, "host") << finding.verdict.detail;
  std::vector<std::string> names;
  for (const Explanation& cause : finding.explanations) names.push_back(cause.name);
  EXPECT_THAT(names, testing::ElementsAre(GetParam())) << finding.verdict.detail;
  // What goes beyond the sequences is told of none of them.
  const bool is_of_none = std::string(GetParam()) == "last_sequence_takes_the_tail";
  const std::string note = finding.notes.empty() ? "" : finding.notes.front();
  EXPECT_THAT(note, HasSubstr(is_of_none ? "" : "is right alone"));
  EXPECT_EQ(note.empty(), is_of_none);
}

INSTANTIATE_TEST_SUITE_P(Triage, AFaultOfABatch,
                         testing::Values("accepted_count_off_by_one",
                                         "newest_draft_taken_as_accepted",
                                         "last_sequence_takes_the_tail",
                                         "only_the_last_draft_is_stored"),
                         [](const auto& test) { return std::string(test.param); });

// q is never scaled.
gdn_status unscaled(gdn_engine* engine, const gdn_recurrent_args* args) {
  gdn_recurrent_args other = *args;
  other.scale_is_given = 1;
  other.scale = 1;
  return mutants::right_twin().recurrent(engine, &other);
}

TEST(AFaultOfTheNumbers, IsFoundInOneSequenceAlone) {
  gdn_api api = mutants::right_twin();
  api.recurrent = unscaled;
  std::string why;
  const std::optional<EngineSource> engine = use_engine("unscaled", &api, &why);
  ASSERT_TRUE(engine) << why;
  const Lab lab(*engine);
  const std::optional<WrongBatch> batch = wrong_batch(a_batch(), lab);
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->where(), "sequence 0 of call 1");
  ASSERT_TRUE(batch->alone);
  EXPECT_EQ(batch->alone->tokens, 4);
  const Finding finding = diagnosed(a_batch(), lab);
  EXPECT_EQ(finding.op, "delta_rule") << finding.verdict.detail;
  ASSERT_FALSE(finding.explanations.empty());
  EXPECT_EQ(finding.explanations.front().name, "scale_on=none");
}

TEST(ARightBatch, IsNotLookedInto) {
  EXPECT_FALSE(wrong_batch(a_batch(), lab_of("twin")));
  EXPECT_FALSE(wrong_batch(a_batch().with_calls({}), lab_of("twin")));
  // A wrong call that is refused is as right.
  Case c = a_batch();
  c.calls[1].accepted = {3, 1, 4};
  EXPECT_FALSE(wrong_batch(c, lab_of("twin")));
}

}  // namespace
}  // namespace gdn
