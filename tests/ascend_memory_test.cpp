// What the simulated operator writes and what it leaves: guard bands behind rows, work that a core
// abandons, and how work is cut.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/ascend_sim/setting.h"
#include "tests/ascend_problem.h"

namespace gdn::ascend {
namespace {

using ::testing::HasSubstr;
using testing::plan_of;
using testing::problem_of;
using testing::results;
using testing::sentinel;
using testing::Wanted;

// Rows end to end, as a caller has them.
Wanted dense(Wanted wanted) {
  wanted.program.output_pitch = [](int64_t row_bytes) { return row_bytes; };
  wanted.program.state_pitch = [](int64_t state_bytes) { return state_bytes; };
  return wanted;
}

bool is_untouched(const Global& array, int64_t begin) {
  for (size_t i = static_cast<size_t>(begin); i < array.bytes.size(); ++i) {
    if (array.bytes[i] != sentinel) return false;
  }
  return true;
}

// Were all bytes of a range written? Padding is a NaN here, which is no sentinel.
bool is_written(const Global& array, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    if (array.bytes[static_cast<size_t>(i)] == sentinel) return false;
  }
  return true;
}

TEST(AscendMemory, TheLastRowIsOverrunToTheEndOfItsUnitAndNoFurther) {
  for (const int64_t kd : {1, 5, 15, 16, 17}) {
    for (const int64_t vd : {1, 3, 15, 16}) {
      const Wanted wanted = dense({.kd = kd, .v_heads = 1, .vd = vd, .lengths = {3}});
      Problem p = problem_of(wanted);
      const Report report = run(p, plan_of(16, 2), right_program);
      EXPECT_TRUE(report.hazards.empty()) << report.hazards.front().text();
      // Rows of one head and tile follow each other: each is written over the padding of the last.
      const int64_t o_end = 2 * p.o_pitch + whole_units(2 * vd);
      EXPECT_TRUE(is_written(p.o, 3 * p.o_pitch, o_end)) << "kd " << kd << ", vd " << vd;
      EXPECT_TRUE(is_untouched(p.o, std::max(o_end, 3 * p.o_pitch)));
      EXPECT_LE(o_end - 3 * p.o_pitch, 31);
      const int64_t last_row = 3 * p.state_pitch - 2 * kd;
      const int64_t state_end = last_row + whole_units(2 * kd);
      EXPECT_TRUE(is_written(p.state, 3 * p.state_pitch, state_end));
      EXPECT_TRUE(is_untouched(p.state, std::max(state_end, 3 * p.state_pitch)));
      EXPECT_LE(state_end - 3 * p.state_pitch, 31);
      // And what is in front of the overrun is what rows with room between them give.
      Problem apart = problem_of({.kd = kd, .v_heads = 1, .vd = vd, .lengths = {3}});
      run(apart, plan_of(16, 2), right_program);
      EXPECT_EQ(results(p), results(apart));
    }
  }
}

// The order of tiles makes dense rows unsound: the last tile of a row reaches into the next row,
// whose first tile is there already.
TEST(AscendMemory, DenseRowsOfSeveralTilesAreOverrun) {
  const Wanted wanted = {.kd = 16, .v_heads = 1, .vd = 17, .lengths = {2}};
  Problem ends_meet = problem_of(dense(wanted));
  Problem apart = problem_of(wanted);
  EXPECT_TRUE(run(apart, plan_of(16, 1), right_program).hazards.empty());
  run(ends_meet, plan_of(16, 1), right_program);
  EXPECT_NE(results(ends_meet), results(apart));
  // 17 values end 2 bytes into their second unit: 15 values of the next row are padding now.
  const unsigned char* const next_row = &ends_meet.o.bytes[34];
  const unsigned char* const right_row = &apart.o.bytes[static_cast<size_t>(apart.o_pitch)];
  EXPECT_NE(std::memcmp(next_row, right_row, 30), 0);
  EXPECT_EQ(std::memcmp(next_row + 30, right_row + 30, 4), 0);
}

// Between cores nothing orders an overrun and the row that it meets.
TEST(AscendMemory, DenseRowsOfSeveralCoresAreAHazard) {
  Problem p = problem_of(dense({.kd = 16, .v_heads = 2, .vd = 9, .lengths = {1}}));
  const Report report = run(p, plan_of(16, 1, 2), right_program);
  ASSERT_FALSE(report.hazards.empty());
  const Hazard& first = report.hazards.front();
  EXPECT_EQ(first.buffer, "the output");
  EXPECT_EQ(first.earlier.core, 0);
  EXPECT_EQ(first.later.core, 1);
  // Row 0 ends at byte 18 and is written up to 32.
  EXPECT_EQ(first.begin, 18);
  EXPECT_EQ(first.end, 32);
}

TEST(AscendMemory, TwoSequencesInOneSlotAreAHazard) {
  Problem p = problem_of({.kd = 16, .v_heads = 1, .vd = 16, .lengths = {1, 1}});
  p.indices = {0, 0};
  const Report report = run(p, plan_of(16, 1, 2), right_program);
  ASSERT_FALSE(report.hazards.empty());
  EXPECT_EQ(report.hazards.front().buffer, "the pool");
}

TEST(AscendMemory, ALengthThatIsNotAllowedEndsEveryCoreThatMeetsIt) {
  // One core for each of three sequences of one head.
  Problem p = problem_of({.v_heads = 1, .lengths = {2, 17, 2}});
  const Report report = run(p, plan_of(16, 2, 3), right_program);
  ASSERT_EQ(report.abandoned.size(), 3U);
  for (const Abandoned& one : report.abandoned) EXPECT_EQ(one.sequence, 1);
  EXPECT_FALSE(is_untouched(p.o, 0));
  EXPECT_TRUE(is_untouched(p.o, 2 * p.o_pitch)) << "the third sequence is legal and was not done";
}

TEST(AscendMemory, AnAcceptedCountThatIsNotAllowedEndsTheCoresThatHaveTheSequence) {
  for (const int32_t count : {0, -1, 3}) {
    Problem p = problem_of({.v_heads = 1, .lengths = {2, 2, 2, 2}, .accepted = {1, count, 2, 1}});
    // Two sequences a core.
    const Report report = run(p, plan_of(16, 2, 2), right_program);
    ASSERT_EQ(report.abandoned.size(), 1U) << count;
    EXPECT_EQ(report.abandoned.front().core, 0);
    EXPECT_EQ(report.abandoned.front().sequence, 1);
    EXPECT_FALSE(is_untouched(p.o, 6 * p.o_pitch)) << "the other core does its work";
    EXPECT_EQ(p.o.bytes[static_cast<size_t>(2 * p.o_pitch)], sentinel);
    EXPECT_NE(p.o.bytes[0], sentinel);
  }
}

TEST(AscendMemory, ASequenceWithoutTokensIsPassedOver) {
  for (const int32_t length : {0, -4}) {
    Problem p = problem_of({.v_heads = 1, .lengths = {2, length, 2}, .accepted = {1, 9, 1}});
    const Report report = run(p, plan_of(16, 2, 2), right_program);
    EXPECT_TRUE(report.abandoned.empty());
    EXPECT_NE(p.o.bytes[static_cast<size_t>(3 * p.o_pitch)], sentinel);
  }
}

TEST(AscendPlan, CoresTakeConsecutiveUnitsUntilTheyHaveTheirShare) {
  Sequences sequences = {.tokens = 9, .start = 0, .lengths = {4, 0, 1, 4}, .accepted = {}};
  Plan plan = plan_of(16, 1, 3);
  // 18 tokens of both heads over 3 cores: 6 each, by whole units of 4 and 1.
  const Cut made = cut(sequences, 2, plan);
  ASSERT_EQ(made.of_core.size(), 3U);
  EXPECT_EQ(made.of_core[0].size(), 2U);
  EXPECT_EQ(made.of_core[1].size(), 3U);
  EXPECT_EQ(made.of_core[2].size(), 1U);
  EXPECT_EQ(made.of_core[2].front().sequence, 3);
  EXPECT_EQ(made.of_core[2].front().head, 1);
  EXPECT_EQ(made.of_core[2].front().first_token, 5);
}

TEST(AscendPlan, TilesFitIntoLocalMemory) {
  const Dimensions usual = {16, 32, 128, 128, GDN_BF16, GDN_BF16, GDN_BF16, GDN_F32};
  Plan plan;
  ASSERT_TRUE(choose(usual, &plan));
  EXPECT_EQ(plan.v_step % lane_block, 0);
  EXPECT_LT(plan.v_step, 128);
  EXPECT_LE(local_bytes(usual, plan), local_bytes_max);
  Plan too_large = plan_of(128, 2);
  EXPECT_FALSE(choose(usual, &too_large));
}

TEST(AscendSetting, IsReadFromText) {
  Setting setting;
  std::string why;
  ASSERT_TRUE(parse_setting("v_step=32,depth=2,cores=3,chip=310p,late=vector", &setting, &why));
  EXPECT_EQ(setting.plan.v_step, 32);
  EXPECT_EQ(setting.plan.depth, 2);
  EXPECT_EQ(setting.plan.cores, 3);
  EXPECT_EQ(setting.plan.sequence_tokens_max, 8);
  EXPECT_FALSE(setting.has_bf16);
  EXPECT_TRUE(setting.plan.schedule.is_late[static_cast<size_t>(Queue::vector)]);
  for (const char* text : {"", "v_step", "v_step=17", "v_step=0", "depth=3", "depth=", "cores=65",
                           "chip=900", "late=scalar", "v_step=16,", "speed=9", "v_step=16x"}) {
    EXPECT_FALSE(parse_setting(text, &setting, &why)) << text;
    EXPECT_THAT(why, HasSubstr("expected")) << text;
  }
  EXPECT_FALSE(parse_setting("v_step=16,depth=1,v_step=32", &setting, &why));
  EXPECT_THAT(why, HasSubstr("v_step is given twice"));
  EXPECT_TRUE(parse_setting("late=vector,late=copy_in", &setting, &why)) << why;
}

}  // namespace
}  // namespace gdn::ascend
