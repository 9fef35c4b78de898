// Every detector of the simulator but that of races against a kernel with one planted fault, and
// against the same kernel put right. A template argument `planted` chooses.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/simt_planted.h"

namespace gdn {
namespace {

using simt::Fault;
using simt::FaultKind;
using simt::Machine;

template <int index>
void touches(const Floats& p) {
  if (thread_index() == 5) p.x[index] = 1;
}

TEST(SimulatedBounds, OneElementBeyondEitherEndIsOutside) {
  expect_caught<touches<64>, touches<63>>(FaultKind::out_of_bounds, one_warp);
  expect_caught<touches<-1>, touches<0>>(FaultKind::out_of_bounds, one_warp);
  expect_caught<touches<1 << 30>, touches<1>>(FaultKind::out_of_bounds, one_warp);
}

TEST(SimulatedBounds, ANeighbouringAllocationIsNotReached) {
  Machine machine;
  auto* const x = static_cast<float*>(machine.allocate(256, "first"));
  machine.allocate(256, "second");
  const auto fault = launch<touches<64>>(machine, one_warp, {{x}, 64});
  ASSERT_TRUE(fault.has_value());
  EXPECT_NE(fault->detail.find("byte 256 of allocation 'first' (256 bytes)"), std::string::npos)
      << fault->detail;
}

TEST(SimulatedBounds, ANullPointerIsNamed) {
  Machine machine;
  const auto fault = launch<touches<0>>(machine, one_warp, {});
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind, FaultKind::out_of_bounds);
  EXPECT_EQ(fault->detail, "null pointer");
}

template <bool planted>
void touches_past_shared_array(const Floats&) {
  GDN_SHARED(float, first, 32);
  GDN_SHARED(float, second, 32);
  first[thread_index()] = 1;
  second[thread_index() + (planted ? 1 : 0)] = 2;
}

TEST(SimulatedBounds, EachSharedArrayHasItsOwn) {
  expect_caught<touches_past_shared_array<true>, touches_past_shared_array<false>>(
      FaultKind::out_of_bounds, one_warp);
}

template <bool planted>
void touches_past_dynamic_shared(const Floats&) {
  dynamic_shared<float>()[thread_index() + (planted ? 1 : 0)] = 1;
}

TEST(SimulatedBounds, DynamicSharedMemoryEndsWhereTheLaunchSays) {
  expect_caught<touches_past_dynamic_shared<true>, touches_past_dynamic_shared<false>>(
      FaultKind::out_of_bounds, {.threads = 32, .shared_bytes = 128});
}

TEST(SimulatedUseAfterFree, IsToldApartFromOutOfBounds) {
  Machine machine;
  auto* const x = static_cast<float*>(machine.allocate(256, "x"));
  EXPECT_FALSE(launch<touches<0>>(machine, one_warp, {{x}, 64}));
  EXPECT_FALSE(machine.release(x));
  const auto fault = launch<touches<0>>(machine, one_warp, {{x}, 64});
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind, FaultKind::use_after_free);
}

void copies_first(const Floats& p) {
  if (thread_index() == 0) p.x[1] = p.x[0];
}

TEST(SimulatedUninitialisedRead, EveryByteMustHaveBeenWritten) {
  Machine machine;
  auto* const x = static_cast<float*>(machine.allocate(256, "x"));
  const auto expect_fault = [&] {
    const auto fault = launch<copies_first>(machine, one_warp, {{x}, 64});
    ASSERT_TRUE(fault.has_value());
    EXPECT_EQ(fault->kind, FaultKind::uninitialised_read) << fault->text();
  };
  expect_fault();
  EXPECT_FALSE(machine.fill(x, 0, 3));  // the fourth byte is still missing
  expect_fault();
  EXPECT_FALSE(machine.fill(x, 0, 4));
  EXPECT_FALSE(launch<copies_first>(machine, one_warp, {{x}, 64}));
  EXPECT_FALSE(machine.poison(x, 4));
  expect_fault();
  EXPECT_FALSE(machine.copy(x, x + 1, 4));  // the kernel wrote it, so the copy counts as written
  EXPECT_FALSE(launch<copies_first>(machine, one_warp, {{x}, 64}));
  EXPECT_FALSE(machine.copy(x, x + 2, 4));  // and a copy of what nobody wrote does not
  expect_fault();
}

template <bool planted>
void reads_shared_of_last_block(const Floats& p) {
  GDN_SHARED(float, kept, 1);
  if (thread_index() != 0) return;
  if (!planted || block_index() == 0) kept[0] = 1;
  p.x[block_index()] = kept[0];
}

TEST(SimulatedUninitialisedRead, SharedMemoryStartsAfreshInEveryBlock) {
  expect_caught<reads_shared_of_last_block<true>, reads_shared_of_last_block<false>>(
      FaultKind::uninitialised_read, two_blocks);
}

template <bool planted>
void loads_four(const Floats& p) {
  if (thread_index() == 0) p.x[0] = load4(p.x, planted ? 3 : 4)[0];
}

TEST(SimulatedAlignment, FourFloatsStandOn16Bytes) {
  expect_caught<loads_four<true>, loads_four<false>>(FaultKind::misaligned, one_warp);
}

template <bool planted>
void half_skips_barrier(const Floats&) {
  if (!planted || thread_index() < 32) barrier();
}
template <bool planted>
void some_return_early(const Floats&) {
  if (planted && thread_index() >= 40) return;
  barrier();
}
template <bool planted>
void takes_either_barrier(const Floats&) {
  if (planted && thread_index() < 32) {
    barrier();
  } else {
    barrier();
  }
}

// Those that return have waited at this very barrier before.
template <bool planted>
void some_return_from_loop(const Floats&) {
  for (int i = 0; i < 2; ++i) {
    if (planted && i == 1 && thread_index() >= 40) return;
    barrier();
  }
}

TEST(SimulatedBarrier, EveryThreadOfTheBlockMustReachTheSame) {
  constexpr FaultKind kind = FaultKind::divergent_barrier;
  expect_caught<some_return_from_loop<true>, some_return_from_loop<false>>(kind, two_warps);
  expect_caught<half_skips_barrier<true>, half_skips_barrier<false>>(kind, two_warps);
  expect_caught<some_return_early<true>, some_return_early<false>>(kind, two_warps);
  expect_caught<takes_either_barrier<true>, takes_either_barrier<false>>(kind, two_warps);
}

TEST(SimulatedBarrier, NamesWhoWaitsAndWhoIsMissing) {
  const std::optional<Fault> fault = run<some_return_early<true>>(two_warps);
  ASSERT_TRUE(fault && fault->place && fault->other);
  EXPECT_EQ(fault->place->thread, 0U);
  EXPECT_EQ(fault->other->thread, 40U);
  EXPECT_EQ(fault->detail, "thread 40 of the block has finished");
}

template <bool planted>
void half_a_warp_shuffles(const Floats&) {
  if (!planted || lane() < 16) shuffle_xor(full_mask, 1.0F, 1);
}
template <bool planted>
void half_a_warp_is_at_a_barrier(const Floats&) {
  if (planted && lane() < 16) {
    barrier();
    warp_sum(1);
  } else {
    warp_sum(1);
    barrier();
  }
}
template <bool planted>
void shuffles_outside_own_mask(const Floats&) {
  shuffle_xor(planted ? 0x0000ffffU : full_mask, 1.0F, 1);
}
// All lanes come, but those between the first and the last leave the first out of their mask.
template <bool planted>
void brings_another_mask(const Floats&) {
  const bool between = lane() > 0 && lane() < 31;
  warp_sum(static_cast<float>(ballot(planted && between ? full_mask - 1 : full_mask, true)));
}
template <bool planted>
void takes_from_outside_mask(const Floats&) {
  if (lane() < 16) shuffle_xor(0x0000ffffU, 1.0F, planted ? 16 : 8);
}

TEST(SimulatedWarp, EveryLaneOfTheMaskMustReachTheOperation) {
  constexpr FaultKind kind = FaultKind::divergent_warp;
  expect_caught<half_a_warp_shuffles<true>, half_a_warp_shuffles<false>>(kind, one_warp);
  expect_caught<half_a_warp_is_at_a_barrier<true>, half_a_warp_is_at_a_barrier<false>>(kind,
                                                                                       one_warp);
  expect_caught<brings_another_mask<true>, brings_another_mask<false>>(kind, one_warp);
  expect_caught<shuffles_outside_own_mask<true>, shuffles_outside_own_mask<false>>(kind, one_warp);
}

TEST(SimulatedWarp, AMaskNamesOnlyLanesThatExist) {
  const std::optional<Fault> fault = run<half_a_warp_shuffles<false>>({.threads = 20});
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind, FaultKind::divergent_warp);
  EXPECT_EQ(fault->detail, "the mask names lane 31, but the warp has 20 threads");
}

TEST(SimulatedWarp, AShuffleTakesFromItsMaskAlone) {
  expect_caught<takes_from_outside_mask<true>, takes_from_outside_mask<false>>(
      FaultKind::undefined_shuffle, one_warp);
}

template <int bytes>
void declares_shared(const Floats&) {
  GDN_SHARED(unsigned char, all, bytes);
  all[thread_index()] = 1;
}

TEST(SimulatedLaunch, ShapesThatNoGpuTakesAreRefused) {
  constexpr unsigned shared_bytes_max = simt::Options{}.shared_bytes_max;
  const LaunchShape wrong[] = {{.threads = 0},      {.threads = 1025},
                               {.blocks = 0},       {.blocks_y = 0},
                               {.blocks_y = 65536}, {.shared_bytes = shared_bytes_max + 1}};
  for (const LaunchShape& shape : wrong) {
    const std::optional<Fault> fault = run<touches<0>>(shape);
    ASSERT_TRUE(fault.has_value());
    EXPECT_EQ(fault->kind, FaultKind::bad_launch) << fault->text();
  }
  EXPECT_FALSE(run<touches<0>>({.threads = 1024, .shared_bytes = shared_bytes_max}));
  EXPECT_FALSE(run<declares_shared<shared_bytes_max>>(one_warp));
  EXPECT_TRUE(run<declares_shared<shared_bytes_max + 1>>(one_warp));
}

}  // namespace
}  // namespace gdn
