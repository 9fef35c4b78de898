// The simulator's race detector against kernels with one planted race, and against the same kernels
// put right. A template argument `planted` chooses.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/simt_planted.h"

namespace gdn {
namespace {

using simt::Fault;
using simt::FaultKind;
using simt::Machine;

constexpr int neighbour_read_line = __LINE__ + 7;
template <bool planted>
void reads_neighbour(const Floats& p) {
  GDN_SHARED(float, tile, 64);
  const int t = thread_index();
  tile[t] = static_cast<float>(t);
  if (!planted) barrier();
  p.x[t] = tile[63 - t];
}

TEST(SimulatedRace, ReadingAnotherThreadsSharedValueNeedsABarrier) {
  // Thread 0 runs first and finds what nobody wrote; poison alone would show it, so would the race.
  expect_caught<reads_neighbour<true>, reads_neighbour<false>>(FaultKind::uninitialised_read,
                                                               two_warps);
}

template <bool planted>
void overwrites_neighbour(const Floats& p) {
  GDN_SHARED(float, tile, 64);
  const int t = thread_index();
  tile[t] = 1;
  barrier();
  const float old = tile[63 - t];
  if (!planted) barrier();
  tile[t] = old + 1;
  p.x[t] = old;
}

TEST(SimulatedRace, OverwritingWhatAnotherThreadReadsNeedsABarrier) {
  expect_caught<overwrites_neighbour<true>, overwrites_neighbour<false>>(FaultKind::race,
                                                                         two_warps);
}

TEST(SimulatedRace, IsToldWithBothPlaces) {
  const std::optional<Fault> fault = run<overwrites_neighbour<true>>(two_warps);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kernel, "overwrites_neighbour");
  ASSERT_TRUE(fault->place && fault->other);
  // In rising order thread 32 is the first to meet a conflict: thread 31 has overwritten tile[31].
  EXPECT_EQ(fault->place->thread, 32U);
  EXPECT_EQ(fault->other->thread, 31U);
  EXPECT_EQ(fault->other->site.line, fault->place->site.line + 2);
  EXPECT_NE(fault->text().find("tests/simt_race_test.cpp:"), std::string::npos) << fault->text();
}

TEST(SimulatedFault, NamesKernelBlockThreadAndLine) {
  const std::optional<Fault> fault = run<reads_neighbour<true>>(two_warps);
  ASSERT_TRUE(fault && fault->place);
  EXPECT_EQ(fault->kernel, "reads_neighbour");
  EXPECT_EQ(fault->place->block, 0U);
  EXPECT_EQ(fault->place->thread, 0U);
  EXPECT_EQ(fault->place->site.line, neighbour_read_line);
}

// Lane l hands its value to lane 31 - l; planted: thread t to thread 63 - t, of the other warp.
template <bool planted>
void exchanges_within_warp(const Floats& p) {
  const int t = thread_index();
  p.x[t] = static_cast<float>(t);
  syncwarp();
  const float other = p.x[planted ? 63 - t : t / 32 * 32 + 31 - lane()];
  syncwarp();
  p.x[t] = other;
}

TEST(SimulatedRace, SyncwarpOrdersAWarpAndNotTwo) {
  expect_caught<exchanges_within_warp<true>, exchanges_within_warp<false>>(FaultKind::race,
                                                                           two_warps);
}

template <bool planted>
void writes_after_the_meeting(const Floats& p) {
  syncwarp();
  if (lane() == 0) p.x[0] = 1;
  if (!planted) syncwarp();
  if (lane() == 1) p.x[1] = p.x[0];
}

TEST(SimulatedRace, SyncwarpOrdersWhatCameBeforeItAlone) {
  expect_caught<writes_after_the_meeting<true>, writes_after_the_meeting<false>>(FaultKind::race,
                                                                                 one_warp);
}

// Only the lower half synchronises; planted: a lane of it reads what one of the upper half wrote.
template <bool planted>
void synchronises_half(const Floats& p) {
  const int t = thread_index();
  p.x[t] = 1;
  if (t >= 16) return;
  syncwarp(0x0000ffffU);
  const float other = p.x[15 - t];
  if (t == 0) {
    const float far = p.x[planted ? 20 : 10];
    p.x[32] = far + other;
  }
}

TEST(SimulatedRace, SyncwarpOrdersTheLanesOfItsMaskAlone) {
  const LaunchShape shape = one_warp;
  const std::optional<Fault> alarm = run<synchronises_half<false>>(shape);
  EXPECT_FALSE(alarm.has_value()) << alarm->text();
  const std::optional<Fault> fault = run<synchronises_half<true>>(shape);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind, FaultKind::race);
  ASSERT_TRUE(fault->other.has_value());
  EXPECT_EQ(fault->other->thread, 20U);
}

// What lane 0 learns of lane 31 through lane 16 is ordered too.
template <bool planted>
void passes_order_on(const Floats& p) {
  const int t = lane();
  if (t == 31) p.x[0] = 5;
  if (t == 31 || t == 16) syncwarp(0x80010000U);
  if (!planted && (t == 16 || t == 0)) syncwarp(0x00010001U);
  if (t == 0) p.x[1] = p.x[0];
}

TEST(SimulatedRace, OrderIsPassedOnBetweenMasks) {
  const std::optional<Fault> alarm = run<passes_order_on<false>>(one_warp);
  EXPECT_FALSE(alarm.has_value()) << alarm->text();
  // Lane 0 runs first and reads; the later write of lane 31 is what is stopped.
  const std::optional<Fault> fault = run<passes_order_on<true>>(one_warp);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind, FaultKind::race);
  EXPECT_EQ(fault->place->thread, 31U);
}

template <bool planted>
void writes_per_block(const Floats& p) {
  if (thread_index() == 0) p.x[planted ? 0 : block_index()] = 1;
}

TEST(SimulatedRace, BlocksOfOneLaunchAreNotOrdered) {
  expect_caught<writes_per_block<true>, writes_per_block<false>>(FaultKind::race, two_blocks);
}

TEST(SimulatedRace, LaunchesAreOrdered) {
  Machine machine;
  auto* const x = static_cast<float*>(machine.allocate(256, "x"));
  for (int i = 0; i < 3; ++i) {
    const auto fault = launch<writes_per_block<true>>(machine, one_warp, {{x}, 64});
    EXPECT_FALSE(fault.has_value()) << fault->text();
  }
}

// Every thread of every block reads x[0]; planted: one that `writes` says writes it afterwards.
struct LastThread {
  static bool writes() { return block_index() == 1 && thread_index() == 63; }
};
struct ThreadOfFirstWarp {
  static bool writes() { return block_index() == 0 && thread_index() == 31; }
};
template <class Who, bool planted>
void reader_writes(const Floats& p) {
  const float value = p.x[0];
  if (Who::writes()) p.x[planted ? 0 : 1] = value;
}

TEST(SimulatedRace, OfManyReadersOneIsEnough) {
  constexpr LaunchShape two_of_two_warps{.blocks = 2, .threads = 64};
  expect_caught<reader_writes<LastThread, true>, reader_writes<LastThread, false>>(
      FaultKind::race, two_of_two_warps);
  expect_caught<reader_writes<ThreadOfFirstWarp, true>, reader_writes<ThreadOfFirstWarp, false>>(
      FaultKind::race, one_warp);
}

// syncwarp orders thread 0 after the readers of its own warp, and not after those of the other.
void writes_after_syncwarp(const Floats& p) {
  const float value = p.x[0];
  syncwarp();
  if (thread_index() == 0) p.x[0] = value + 1;
}

TEST(SimulatedRace, IsFoundInEveryOrderOfThreads) {
  for (uint64_t seed = 0; seed < 32; ++seed) {
    Machine machine({.order_seed = seed});
    auto* const x = static_cast<float*>(machine.allocate(256, "x"));
    EXPECT_FALSE(machine.fill(x, 0, 256));
    const Floats params{{x}, 64};
    const auto alarm = launch<writes_after_syncwarp>(machine, one_warp, params);
    EXPECT_FALSE(alarm.has_value()) << "seed " << seed << ": " << alarm->text();
    const auto fault = launch<writes_after_syncwarp>(machine, two_warps, params);
    ASSERT_TRUE(fault.has_value()) << "seed " << seed;
    EXPECT_EQ(fault->kind, FaultKind::race) << fault->text();
  }
}

// Two bytes a thread, side by side in one word; planted: one thread in two writes the whole word.
template <bool planted>
void writes_halves(const Floats& p) {
  const int t = thread_index();
  as<uint16_t>(p.x)[t] = 7;
  if (planted && t == 3) as<uint32_t>(p.x)[1] = 7;
}

// The whole word first, then two bytes of it by another thread; planted: of the same word.
template <bool planted>
void writes_word_then_half(const Floats& p) {
  if (thread_index() == 0) p.x[0] = 1;
  if (thread_index() == 1) as<uint16_t>(p.x)[planted ? 1 : 2] = 7;
}

TEST(SimulatedRace, CountsBytesAndNotWords) {
  expect_caught<writes_halves<true>, writes_halves<false>>(FaultKind::race, two_warps);
  expect_caught<writes_word_then_half<true>, writes_word_then_half<false>>(FaultKind::race,
                                                                           one_warp);
}

template <bool planted>
void counts_atomically(const Floats& p) {
  atomic_add(as<int32_t>(p.x), 0, 1);
  if (!planted) barrier();
  if (thread_index() == 63) p.x[1] = static_cast<float>(as<int32_t>(p.x)[0]);
}

TEST(SimulatedRace, AtomicOperationsAreOrderedAmongThemselvesOnly) {
  expect_caught<counts_atomically<true>, counts_atomically<false>>(FaultKind::race, two_warps);
}

}  // namespace
}  // namespace gdn
