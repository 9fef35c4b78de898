// Copies that run beside their thread, and launches that begin before others have ended: what the
// simulator finds wrong with their use, and what it lets pass.
#include <gtest/gtest.h>

#include <vector>

#include "tests/simt_planted.h"

namespace gdn {
namespace {

using simt::Fault;
using simt::FaultKind;

enum class Wrong : uint8_t {
  nothing,
  does_not_wait,
  waits_for_one_set_less,
  lanes_do_not_meet,
  fills_while_others_read,
};

// Half the lanes ask for two numbers each; once they are there, each lane takes one that another
// asked for. By turns in two places.
template <Wrong wrong>
void passes_on(const Floats& p) {
  GDN_SHARED(float, stage, 64);
  const global<const float> x = p.x;
  const auto ask = [&](int turn) {
    if (lane() < 16) copy_async<2>(stage, 32 * (turn % 2) + 2 * lane(), x, 2 * lane());
    close_copies();
  };
  ask(0);
  ask(1);
  float sum = 0;
  for (int turn = 0; turn < 4; ++turn) {
    if (wrong != Wrong::does_not_wait) {
      wait_for_copies<wrong == Wrong::waits_for_one_set_less ? 2 : 1>();
    }
    if (wrong != Wrong::lanes_do_not_meet) syncwarp();
    sum += stage[32 * (turn % 2) + (lane() ^ 31)];
    if (wrong != Wrong::fills_while_others_read) syncwarp();
    ask(turn);
  }
  wait_for_copies<0>();
  syncwarp();
  p.x[lane()] = sum;
}

TEST(SimulatedCopies, AreThereOnceTheyAreWaitedFor) {
  constexpr auto right = passes_on<Wrong::nothing>;
  expect_caught<passes_on<Wrong::does_not_wait>, right>(FaultKind::uninitialised_read, one_warp);
  expect_caught<passes_on<Wrong::waits_for_one_set_less>, right>(FaultKind::uninitialised_read,
                                                                 one_warp);
}

// Seen as one or the other: a lane reads what is not there yet, or what another lane then writes.
void expect_unordered(const std::optional<Fault>& fault) {
  ASSERT_TRUE(fault.has_value()) << "the planted fault went unseen";
  EXPECT_TRUE(fault->kind == FaultKind::race || fault->kind == FaultKind::uninitialised_read)
      << fault->text();
}

TEST(SimulatedCopies, AreOrderedAmongLanesByASyncwarp) {
  expect_unordered(run<passes_on<Wrong::lanes_do_not_meet>>(one_warp));
  expect_unordered(run<passes_on<Wrong::fills_while_others_read>>(one_warp));
}

TEST(SimulatedCopies, BringWhatTheirSourceHad) {
  simt::Machine machine;
  std::vector<float> x(32);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  auto* const at = static_cast<float*>(machine.allocate(128, "x"));
  ASSERT_FALSE(machine.write(at, x.data(), 128));
  ASSERT_FALSE(launch<passes_on<Wrong::nothing>>(machine, one_warp, {{at}, 32}));
  std::vector<float> got(32);
  ASSERT_FALSE(machine.read(got.data(), at, 128));
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(got[i], 4 * x[i ^ 31]);
}

template <int index>
void copies_from(const Floats& p) {
  GDN_SHARED(float, stage, 64);
  const global<const float> x = p.x;
  copy_async<4>(stage, 4 * lane() % 32, x, index);
  close_copies();
  wait_for_copies<0>();
}

TEST(SimulatedCopies, StayInsideMemoryAndAligned) {
  constexpr LaunchShape one_thread{.threads = 1};
  expect_caught<copies_from<64>, copies_from<60>>(FaultKind::out_of_bounds, one_thread);
  expect_caught<copies_from<2>, copies_from<4>>(FaultKind::misaligned, one_thread);
}

template <int first>
void writes_a_number(const Floats& p) {
  p.x[first + lane()] = 1;
}

enum class Early : uint8_t { reads_other, reads_same, writes };
template <Early what>
void begins(const Floats& p) {
  if (what == Early::writes) p.x[lane()] = 2;
  const float x = p.x[what == Early::reads_other ? 32 + lane() : lane()];
  wait_for_launches_before();
  p.x[lane()] = x;
}

void reads_coherently(const Floats& p) {
  const float x = load_coherent<1>(p.x, lane())[0];
  wait_for_launches_before();
  p.x[lane()] = x;
}

void waits_for_nothing_to_read(const Floats& p) {
  wait_for_launches_before();
  p.x[lane()] = 1;
}

// Some threads of a block may end without having waited, not all of them.
template <int waiting>
void waits_in_some_lanes(const Floats& p) {
  if (lane() >= waiting) return;
  wait_for_launches_before();
  p.x[lane()] = 1;
}

}  // namespace

template <>
inline constexpr bool begins_early<reads_coherently> = true;
template <>
inline constexpr bool begins_early<waits_for_nothing_to_read> = true;
template <>
inline constexpr bool next_begins_with_it<waits_for_nothing_to_read> = true;
template <>
inline constexpr bool begins_early<waits_in_some_lanes<0>> = true;
template <>
inline constexpr bool begins_early<waits_in_some_lanes<1>> = true;
template <>
inline constexpr bool begins_early<begins<Early::reads_other>> = true;
template <>
inline constexpr bool begins_early<begins<Early::reads_same>> = true;
template <>
inline constexpr bool begins_early<begins<Early::writes>> = true;

namespace {

enum class HostBetween : uint8_t { does_nothing, reads, waits };

// After a launch that wrote the first half of x.
template <auto kernel>
std::optional<Fault> run_after_another(HostBetween host) {
  simt::Machine machine;
  auto* const x = static_cast<float*>(machine.allocate(256, "x"));
  EXPECT_FALSE(machine.fill(x, 0, 256));
  EXPECT_FALSE(launch<writes_a_number<0>>(machine, one_warp, {{x}, 64}));
  float first = 0;
  if (host == HostBetween::reads) {
    EXPECT_FALSE(machine.read(&first, x, sizeof first));
  }
  if (host == HostBetween::waits) machine.synchronise();
  return launch<kernel>(machine, one_warp, {{x}, 64});
}

TEST(SimulatedEarlyLaunches, ReadNothingThatOneBeforeMayStillWrite) {
  EXPECT_FALSE(run_after_another<begins<Early::reads_other>>(HostBetween::does_nothing));
  const auto fault = run_after_another<begins<Early::reads_same>>(HostBetween::does_nothing);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind, FaultKind::early_access) << fault->text();
  EXPECT_FALSE(run_after_another<begins<Early::reads_same>>(HostBetween::reads));
  EXPECT_FALSE(run_after_another<begins<Early::reads_same>>(HostBetween::waits));
}

TEST(SimulatedEarlyLaunches, WriteNothingBeforeTheyWaited) {
  const auto fault = run_after_another<begins<Early::writes>>(HostBetween::waits);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind, FaultKind::early_access) << fault->text();
}

// The launch before has waited for the one that wrote what is read; but a multiprocessor may have
// read it before that, and have it still.
TEST(SimulatedEarlyLaunches, ReadCoherentlyWhatAllButTheOneBeforeWrote) {
  simt::Machine machine;
  auto* const x = static_cast<float*>(machine.allocate(256, "x"));
  auto* const y = static_cast<float*>(machine.allocate(256, "y"));
  EXPECT_FALSE(machine.fill(x, 0, 256));
  EXPECT_FALSE(machine.fill(y, 0, 256));
  const Floats of_x = {{x}, 64};
  EXPECT_FALSE(launch<writes_a_number<0>>(machine, one_warp, of_x));
  const auto at_once = launch<reads_coherently>(machine, one_warp, of_x);
  ASSERT_TRUE(at_once.has_value());
  EXPECT_EQ(at_once->kind, FaultKind::early_access) << at_once->text();
  EXPECT_FALSE(launch<writes_a_number<0>>(machine, one_warp, of_x));
  EXPECT_FALSE(launch<writes_a_number<0>>(machine, one_warp, {{y}, 64}));
  EXPECT_FALSE(launch<reads_coherently>(machine, one_warp, of_x));
  EXPECT_FALSE(launch<writes_a_number<0>>(machine, one_warp, {{y}, 64}));
  const auto plainly = launch<begins<Early::reads_same>>(machine, one_warp, of_x);
  ASSERT_TRUE(plainly.has_value());
  EXPECT_EQ(plainly->kind, FaultKind::early_access) << plainly->text();
}

TEST(SimulatedEarlyLaunches, OverlapWhatTheOneBeforeDoesWhereTheyBeginWithIt) {
  simt::Machine machine;
  auto* const x = static_cast<float*>(machine.allocate(256, "x"));
  auto* const y = static_cast<float*>(machine.allocate(256, "y"));
  const Floats of_x = {{x}, 64}, of_y = {{y}, 64};
  EXPECT_FALSE(launch<writes_a_number<0>>(machine, one_warp, of_x));
  EXPECT_FALSE(launch<waits_for_nothing_to_read>(machine, one_warp, of_y));
  const auto fault = launch<reads_coherently>(machine, one_warp, of_x);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind, FaultKind::early_access) << fault->text();
  EXPECT_FALSE(launch<writes_a_number<0>>(machine, one_warp, of_y));
  EXPECT_FALSE(launch<reads_coherently>(machine, one_warp, of_x));
}

TEST(SimulatedEarlyLaunches, WaitInSomeThreadOfEachBlock) {
  EXPECT_FALSE(run_after_another<waits_in_some_lanes<1>>(HostBetween::does_nothing));
  const auto fault = run_after_another<waits_in_some_lanes<0>>(HostBetween::waits);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind, FaultKind::early_access) << fault->text();
  EXPECT_NE(fault->text().find("without waiting for the launch before"), std::string::npos)
      << fault->text();
}

TEST(SimulatedEarlyLaunches, OthersWaitBeforeTheirFirstStep) {
  EXPECT_FALSE(run_after_another<writes_a_number<0>>(HostBetween::does_nothing));
}

}  // namespace
}  // namespace gdn
