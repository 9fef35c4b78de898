// Each detector of the simulator against a kernel with one planted fault, and against the same
// kernel put right. A template argument `planted` chooses.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "device/kernels/platform.h"

namespace gdn {
namespace {

using simt::Fault;
using simt::FaultKind;
using simt::Machine;

struct Floats {
  global<float> x;
  int32_t count = 0;
};

// One allocation of zeros and one launch on it.
template <auto kernel>
std::optional<Fault> run(const LaunchShape& shape, int count = 64) {
  Machine machine;
  const size_t bytes = static_cast<size_t>(count) * sizeof(float);
  auto* const x = static_cast<float*>(machine.allocate(bytes, "x"));
  EXPECT_FALSE(machine.fill(x, 0, bytes));
  return launch<kernel>(machine, shape, {{x}, count});
}

template <auto planted, auto right>
void expect_caught(FaultKind kind, const LaunchShape& shape) {
  const std::optional<Fault> fault = run<planted>(shape);
  ASSERT_TRUE(fault.has_value()) << "the planted fault went unseen";
  EXPECT_EQ(fault->kind, kind) << fault->text();
  const std::optional<Fault> alarm = run<right>(shape);
  EXPECT_FALSE(alarm.has_value()) << "false alarm: " << alarm->text();
}

constexpr LaunchShape one_warp{.threads = 32};
constexpr LaunchShape two_warps{.threads = 64};
constexpr LaunchShape two_blocks{.blocks = 2, .threads = 32};

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
  EXPECT_NE(fault->text().find("tests/simt_faults_test.cpp:"), std::string::npos) << fault->text();
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

TEST(SimulatedRace, CountsBytesAndNotWords) {
  expect_caught<writes_halves<true>, writes_halves<false>>(FaultKind::race, two_warps);
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

TEST(SimulatedBarrier, EveryThreadOfTheBlockMustReachTheSame) {
  constexpr FaultKind kind = FaultKind::divergent_barrier;
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
template <bool planted>
void takes_from_outside_mask(const Floats&) {
  if (lane() < 16) shuffle_xor(0x0000ffffU, 1.0F, planted ? 16 : 8);
}

TEST(SimulatedWarp, EveryLaneOfTheMaskMustReachTheOperation) {
  constexpr FaultKind kind = FaultKind::divergent_warp;
  expect_caught<half_a_warp_shuffles<true>, half_a_warp_shuffles<false>>(kind, one_warp);
  expect_caught<half_a_warp_is_at_a_barrier<true>, half_a_warp_is_at_a_barrier<false>>(kind,
                                                                                       one_warp);
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
