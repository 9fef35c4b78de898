// The simulated operator: tiles, queues and schedules change no bit, every wait is needed, padding
// is never read, and what copies write behind their rows is where the model says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ascend_problem.h"

namespace gdn::ascend {
namespace {

using ::testing::HasSubstr;
using testing::plan_of;
using testing::problem_of;
using testing::results;
using testing::sentinel;
using testing::Wanted;

std::vector<Wanted> many() {
  std::vector<Wanted> all;
  all.push_back({});
  all.push_back({.kd = 16, .vd = 48, .lengths = {4}, .one_slot_a_sequence = true});
  all.push_back({.kd = 3, .vd = 40, .lengths = {2, 3, 1}, .state = GDN_F32});
  all.push_back({.k_heads = 2, .kd = 17, .v_heads = 4, .vd = 18, .has_gk = false});
  all.push_back({.kd = 1, .vd = 35, .format = GDN_F16, .state = GDN_F16, .has_g = false});
  all.push_back({.lengths = {5, 0, 3}, .accepted = {4, 7, 1}});
  all.push_back({.kd = 6, .vd = 50, .lengths = {3, 3}, .one_slot_a_sequence = true});
  return all;
}

std::vector<unsigned char> run_right(const Wanted& wanted, const Plan& plan) {
  Problem problem = problem_of(wanted);
  const Report report = run(problem, plan, right_program);
  EXPECT_TRUE(report.abandoned.empty());
  EXPECT_TRUE(report.hazards.empty()) << report.hazards.front().text();
  return results(problem);
}

TEST(AscendSim, EveryTileDepthAndNumberOfCoresGivesTheSameBits) {
  for (const Wanted& wanted : many()) {
    const std::vector<unsigned char> want = run_right(wanted, plan_of(512, 1));
    for (const int64_t v_step : {16, 32, 48, 64}) {
      for (const int64_t depth : {1, 2}) {
        for (const int64_t cores : {1, 2, 3, 7}) {
          EXPECT_EQ(run_right(wanted, plan_of(v_step, depth, cores)), want)
              << "v_step " << v_step << ", depth " << depth << ", " << cores << " cores";
        }
      }
    }
  }
}

std::vector<Schedule> schedules() {
  std::vector<Schedule> all;
  for (const bool in : {false, true}) {
    for (const bool vector : {false, true}) {
      for (const bool out : {false, true}) all.push_back({{in, vector, false, out}});
    }
  }
  return all;
}

TEST(AscendSim, EveryScheduleThatTheEventsAllowGivesTheSameBits) {
  for (const Wanted& wanted : many()) {
    const std::vector<unsigned char> want = run_right(wanted, plan_of(16, 2));
    for (const Schedule& schedule : schedules()) {
      Plan plan = plan_of(16, 2);
      plan.schedule = schedule;
      EXPECT_EQ(run_right(wanted, plan), want);
    }
  }
}

TEST(AscendSim, PaddingIsNeverPartOfAResult) {
  for (const Wanted& wanted : many()) {
    const std::vector<unsigned char> want = run_right(wanted, plan_of(16, 2));
    for (const uint32_t poison : {0U, 0x3F803F80U, 0x7149F2CAU}) {
      Plan plan = plan_of(16, 2);
      plan.poison = poison;
      EXPECT_EQ(run_right(wanted, plan), want);
    }
  }
}

// Which problem, and how deep a queue, needs a wait: the first of `many` that does.
const Hazard* first_hazard(Order order, std::vector<Hazard>* found) {
  Program program = right_program;
  program.left_out.set(static_cast<size_t>(order));
  for (const Wanted& wanted : many()) {
    for (const int64_t depth : {2, 1}) {
      Problem problem = problem_of(wanted);
      *found = run(problem, plan_of(16, depth), program).hazards;
      if (!found->empty()) return &found->front();
    }
  }
  return nullptr;
}

struct Missed {
  Order order;
  Queue later, earlier;
  const char* buffer;
};
class EachWait : public ::testing::TestWithParam<Missed> {};
INSTANTIATE_TEST_SUITE_P(
    Every, EachWait,
    ::testing::Values(
        Missed{Order::inputs_landed, Queue::vector, Queue::copy_in, "q as stored"},
        Missed{Order::inputs_consumed, Queue::copy_in, Queue::vector, "gk"},
        Missed{Order::gates_read, Queue::copy_in, Queue::scalar, "g"},
        Missed{Order::inputs_widened, Queue::vector, Queue::vector, "q"},
        Missed{Order::gates_computed, Queue::scalar, Queue::vector, "g"},
        Missed{Order::state_landed, Queue::vector, Queue::copy_in, "state in, slot 0"},
        Missed{Order::state_consumed, Queue::copy_in, Queue::vector, "state in, slot 0"},
        Missed{Order::prefetched_first, Queue::copy_out, Queue::copy_in, "the pool"},
        Missed{Order::token_before_ended, Queue::vector, Queue::vector, "S"},
        Missed{Order::state_decayed, Queue::vector, Queue::vector, "S"},
        Missed{Order::channels_decayed, Queue::vector, Queue::vector, "S"},
        Missed{Order::key_sums_there, Queue::vector, Queue::vector, "u and the error"},
        Missed{Order::errors_there, Queue::vector, Queue::vector, "u and the error"},
        Missed{Order::state_updated, Queue::vector, Queue::vector, "S"},
        Missed{Order::output_sums_there, Queue::vector, Queue::vector, "o"},
        Missed{Order::state_rounded, Queue::copy_out, Queue::vector, "state out, slot 0"},
        Missed{Order::output_rounded, Queue::copy_out, Queue::vector, "output, slot 0"},
        Missed{Order::state_slot_free, Queue::vector, Queue::copy_out, "state out, slot 0"},
        Missed{Order::output_slot_free, Queue::vector, Queue::copy_out, "output, slot 0"},
        Missed{Order::stores_in_turn, Queue::copy_out, Queue::copy_out, "the pool"}),
    [](const auto& of) { return "order_" + std::to_string(static_cast<int>(of.param.order)); });

TEST_P(EachWait, IsNeededAndItsLackIsToldByQueueAndBuffer) {
  const Missed& missed = GetParam();
  std::vector<Hazard> found;
  const Hazard* const hazard = first_hazard(missed.order, &found);
  ASSERT_NE(hazard, nullptr);
  EXPECT_EQ(hazard->later.queue, missed.later) << hazard->text();
  EXPECT_EQ(hazard->earlier.queue, missed.earlier) << hazard->text();
  EXPECT_EQ(hazard->buffer, missed.buffer) << hazard->text();
  EXPECT_TRUE(hazard->earlier_writes || hazard->later_writes);
  EXPECT_LT(hazard->begin, hazard->end);
  EXPECT_GE(hazard->later.place.sequence, 0);
  EXPECT_THAT(hazard->text(), HasSubstr(name_of(missed.later)));
  EXPECT_THAT(hazard->text(), HasSubstr(name_of(missed.earlier)));
  EXPECT_THAT(hazard->text(), HasSubstr("token "));
  EXPECT_THAT(hazard->text(), HasSubstr("tile "));
}

// Between queues a lack is more than an opinion: some schedule moves other bytes.
TEST_P(EachWait, ItsLackShowsInTheNumbersWhereItIsBetweenQueues) {
  const Missed& missed = GetParam();
  if (missed.later == missed.earlier || missed.earlier == Queue::scalar) return;
  Program program = right_program;
  program.left_out.set(static_cast<size_t>(missed.order));
  bool shows = false;
  for (const Wanted& wanted : many()) {
    const std::vector<unsigned char> want = run_right(wanted, plan_of(16, 2));
    for (const Schedule& schedule : schedules()) {
      Problem problem = problem_of(wanted);
      Plan plan = plan_of(16, 2);
      plan.schedule = schedule;
      run(problem, plan, program);
      shows = shows || results(problem) != want;
    }
  }
  EXPECT_TRUE(shows);
}

// The text has all that is asked of it, in one line that can be read.
TEST(AscendSim, AHazardIsToldInWords) {
  Program program = right_program;
  program.left_out.set(static_cast<size_t>(Order::output_slot_free));
  Problem problem = problem_of({});
  const Report report = run(problem, plan_of(16, 2), program);
  ASSERT_FALSE(report.hazards.empty());
  EXPECT_EQ(report.hazards.front().text(),
            "vector (rounding, core 0, sequence 0, head 0, token 2, tile 0) writes output, slot 0 "
            "bytes [0, 32) and nothing orders it after copy_out (output, core 0, sequence 0, head "
            "0, token 0, tile 0) reads them");
}

TEST(AscendSim, ATileIsAsLongAsTheValuesThatAreLeft) {
  // Values are independent of each other: those of a short last tile are what they are alone.
  const Wanted whole = {.v_heads = 1, .vd = 37, .lengths = {4}};
  Problem all = problem_of(whole);
  Problem last = problem_of({.v_heads = 1, .vd = 5, .lengths = {4}});
  const int64_t state_row = whole.kd * 2;
  for (int64_t t = 0; t < 4; ++t) {
    std::memcpy(&last.v.bytes[static_cast<size_t>(t * 10)],
                &all.v.bytes[static_cast<size_t>(t * 74 + 64)], 10);
  }
  last.q = all.q;
  last.k = all.k;
  last.beta = all.beta;
  last.g = all.g;
  last.gk = all.gk;
  std::memcpy(last.state.bytes.data(), &all.state.bytes[static_cast<size_t>(32 * state_row)],
              static_cast<size_t>(5 * state_row));
  run(all, plan_of(16, 2), right_program);
  run(last, plan_of(16, 2), right_program);
  for (int64_t t = 0; t < 4; ++t) {
    const unsigned char* const of_all = &all.o.bytes[static_cast<size_t>(t * all.o_pitch + 64)];
    const unsigned char* const alone = &last.o.bytes[static_cast<size_t>(t * last.o_pitch)];
    EXPECT_EQ(std::memcmp(of_all, alone, 10), 0) << "token " << t;
    EXPECT_EQ(
        std::memcmp(&all.state.bytes[static_cast<size_t>(t * all.state_pitch + 32 * state_row)],
                    &last.state.bytes[static_cast<size_t>(t * last.state_pitch)],
                    static_cast<size_t>(5 * state_row)),
        0)
        << "token " << t;
  }
}

TEST(AscendSim, NoValuesLeaveEarly) {
  Problem problem = problem_of({.vd = 0, .lengths = {99, -3}});
  const std::vector<unsigned char> state = problem.state.bytes;
  const Report report = run(problem, plan_of(16, 2), right_program);
  EXPECT_TRUE(report.abandoned.empty()) << "its lengths are not looked at";
  EXPECT_TRUE(report.hazards.empty());
  EXPECT_EQ(problem.state.bytes, state);
}

}  // namespace
}  // namespace gdn::ascend
