// What the simulator computes when nothing is wrong: warps, barriers, shared memory, grids, and a
// machine that outlives a fault.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "tests/platform_kernels.cuh"

namespace gdn {
namespace {

using simt::Fault;
using simt::Machine;
using simt::Options;

// Memory of a machine that a test fills and reads back.
template <class T>
class Array {
 public:
  Array(Machine& machine, const std::vector<T>& values)
      : machine_(machine),
        bytes_(values.size() * sizeof(T)),
        data_(static_cast<T*>(machine.allocate(bytes_))) {
    EXPECT_FALSE(machine.write(data_, values.data(), bytes_));
  }
  T* data() const { return data_; }
  std::vector<T> values() const {
    std::vector<T> read(bytes_ / sizeof(T));
    EXPECT_FALSE(machine_.read(read.data(), data_, bytes_));
    return read;
  }

 private:
  Machine& machine_;
  size_t bytes_;
  T* data_;
};

void expect_none(const std::optional<Fault>& fault) {
  EXPECT_FALSE(fault.has_value()) << fault->text();
}

std::vector<float> counting(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0F);
  return values;
}

TEST(Simulator, SumsRowsThroughWarpsAndSharedMemory) {
  Machine machine;
  const Array<float> x(machine, counting(3 * 100));  // rows 1..100, 101..200, 201..300
  const Array<float> y(machine, std::vector<float>(3));
  for (const unsigned threads : {32U, 96U, 256U}) {
    expect_none(launch<row_sums>(machine, {.blocks = 3, .threads = threads},
                                 {{x.data()}, {y.data()}, 100}));
    EXPECT_EQ(y.values(), (std::vector<float>{5050, 15050, 25050})) << threads << " threads";
  }
}

TEST(Simulator, ConvolvesOldestFirstAndShiftsTheHistory) {
  Machine machine;
  const Array<float> x(machine, {4, 40});
  const Array<float> history(machine, {1, 10, 2, 20, 3, 30});
  const Array<float> weight(machine, {1, 10, 100, 1000, 1, 10, 100, 1000});
  const Array<float> y(machine, {0, 0});
  expect_none(launch<conv_taps>(machine, {.threads = 32},
                                {{x.data()}, {history.data()}, {weight.data()}, {y.data()}, 2, 4}));
  EXPECT_EQ(y.values(), (std::vector<float>{4321, 43210}));
  EXPECT_EQ(history.values(), (std::vector<float>{2, 20, 3, 30, 4, 40}));
}

TEST(Simulator, MultipliesAMatrixByAVectorWithAndWithoutChecks) {
  // Row r of w is r + 1 everywhere; x is 1, 2, ..., 8: 36 (r + 1).
  std::vector<float> w;
  for (int r = 0; r < 5; ++r) w.insert(w.end(), 8, static_cast<float>(r + 1));
  for (const bool checks : {true, false}) {
    Machine machine({.checks = checks});
    const Array<float> matrix(machine, w);
    const Array<float> x(machine, counting(8));
    const Array<float> y(machine, std::vector<float>(5));
    expect_none(launch<matrix_vector>(machine, {.blocks = 3, .threads = 64},
                                      {{matrix.data()}, {x.data()}, {y.data()}, 5, 8}));
    EXPECT_EQ(y.values(), (std::vector<float>{36, 72, 108, 144, 180}));
  }
}

TEST(Simulator, GivesTheSameBitsInEveryOrderWhereNothingRaces) {
  std::vector<float> x(4 * 1000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 1.0F / static_cast<float>(i + 3);
  std::vector<float> want;
  for (const uint64_t seed : {0U, 1U, 2U, 3U}) {
    Machine machine({.order_seed = seed});
    const Array<float> in(machine, x);
    const Array<float> out(machine, std::vector<float>(4));
    expect_none(launch<row_sums>(machine, {.blocks = 4, .threads = 128},
                                 {{in.data()}, {out.data()}, 1000}));
    if (want.empty()) want = out.values();
    EXPECT_EQ(std::memcmp(out.values().data(), want.data(), want.size() * sizeof(float)), 0);
  }
}

struct Ints {
  global<int32_t> out;
};

// Each thread takes a ticket: which one it gets shows the order of turns.
void takes_ticket(const Ints& p) {
  const int index = block_index() * thread_count() + thread_index();
  const int32_t ticket = atomic_add(p.out, 0, 1);
  p.out[1 + index] = ticket;
}

std::vector<int32_t> tickets(uint64_t seed) {
  Machine machine({.order_seed = seed});
  const Array<int32_t> out(machine, std::vector<int32_t>(129));
  expect_none(launch<takes_ticket>(machine, {.blocks = 2, .threads = 64}, {{out.data()}}));
  std::vector<int32_t> taken = out.values();
  EXPECT_EQ(taken.front(), 128);
  taken.erase(taken.begin());
  return taken;
}

TEST(Simulator, RunsThreadsInRisingOrderUnlessSeeded) {
  std::vector<int32_t> rising(128);
  std::iota(rising.begin(), rising.end(), 0);
  EXPECT_EQ(tickets(0), rising);
  EXPECT_NE(tickets(1), rising);
  EXPECT_NE(tickets(1), tickets(2));
  EXPECT_EQ(tickets(1), tickets(1));
  std::vector<int32_t> all = tickets(1);
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, rising);
}

// Row r of out holds what each of 32 lanes got from warp operation r.
void warp_operations(const Ints& p) {
  const int l = lane();
  p.out[l] = shuffle(full_mask, l, 31 - l);
  p.out[32 + l] = shuffle_xor(full_mask, l, 5);
  p.out[64 + l] = shuffle_down(full_mask, l, 3);
  p.out[96 + l] = shuffle_up(full_mask, l, 3);
  p.out[128 + l] = static_cast<int32_t>(ballot(full_mask, l % 3 == 0));
  const uint32_t mine = l < 8 ? 0x000000ffU : 0xffffff00U;
  p.out[160 + l] = static_cast<int32_t>(ballot(mine, true));
}

TEST(Simulator, WarpOperationsMoveValuesBetweenLanes) {
  Machine machine;
  const Array<int32_t> out(machine, std::vector<int32_t>(6 * 32));
  expect_none(launch<warp_operations>(machine, {.threads = 32}, {{out.data()}}));
  const std::vector<int32_t> got = out.values();
  for (int l = 0; l < 32; ++l) {
    const auto row = [&](int r) { return got[static_cast<size_t>(32 * r + l)]; };
    EXPECT_EQ(row(0), 31 - l);
    EXPECT_EQ(row(1), l ^ 5);
    EXPECT_EQ(row(2), l < 29 ? l + 3 : l);  // beyond the end a lane keeps its own
    EXPECT_EQ(row(3), l >= 3 ? l - 3 : l);
    EXPECT_EQ(static_cast<uint32_t>(row(4)), 0x49249249U);  // bits 0, 3, ..., 30
    EXPECT_EQ(static_cast<uint32_t>(row(5)), l < 8 ? 0x000000ffU : 0xffffff00U);
  }
}

void doubles_shuffled(const Ints& p) {
  const double sum = shuffle_xor(full_mask, 1.0 + lane(), 1);
  p.out[lane()] = static_cast<int32_t>(sum);
}

TEST(Simulator, ShufflesDoublesWhole) {
  Machine machine;
  const Array<int32_t> out(machine, std::vector<int32_t>(32));
  expect_none(launch<doubles_shuffled>(machine, {.threads = 32}, {{out.data()}}));
  EXPECT_EQ(out.values()[0], 2);
  EXPECT_EQ(out.values()[31], 31);
}

void writes_grid(const Ints& p) {
  const int block = block_index_y() * block_count() + block_index();
  p.out[block * thread_count() + thread_index()] =
      1000 * block_index_y() + 100 * block_index() + 10 * warp_index() + lane() % 10;
  if (block == 0 && thread_index() == 0) p.out[0] = 100 * block_count() + block_count_y();
}

TEST(Simulator, NumbersThreadsBlocksAndWarps) {
  Machine machine;
  const Array<int32_t> out(machine, std::vector<int32_t>(6 * 64));
  const LaunchShape shape{.blocks = 3, .blocks_y = 2, .threads = 64};
  expect_none(launch<writes_grid>(machine, shape, {{out.data()}}));
  const std::vector<int32_t> got = out.values();
  EXPECT_EQ(got[0], 302);
  EXPECT_EQ(got[1], 1);
  EXPECT_EQ(got[2 * 64 + 33], 211);   // block (2, 0), thread 33: warp 1, lane 1
  EXPECT_EQ(got[5 * 64 + 63], 1211);  // block (2, 1), thread 63: warp 1, lane 31
}

// Turns a row of 64 numbers round through dynamic shared memory, many barriers over.
void turns_round(const Ints& p) {
  const auto buffer = dynamic_shared<int32_t>(64);
  const int t = thread_index();
  int32_t value = p.out[t];
  for (int i = 0; i < 101; ++i) {
    buffer[t] = value;
    barrier();
    value = buffer[63 - t] + 1;
    barrier();
  }
  p.out[t] = value;
}

TEST(Simulator, OpensABarrierAsOftenAsAllComeToIt) {
  Machine machine;
  const Array<int32_t> out(machine, std::vector<int32_t>(64, 7));
  const LaunchShape shape{.threads = 64, .shared_bytes = 64 + 64 * sizeof(int32_t)};
  expect_none(launch<turns_round>(machine, shape, {{out.data()}}));
  EXPECT_EQ(out.values(), std::vector<int32_t>(64, 108));
}

void packs(const Ints& p) {
  if (thread_index() != 0) return;
  auto four = load4(p.out, 4);
  four[1] += load16(as<int8_t>(p.out), 0)[4];
  store(p.out, 0, four);
  p.out[8] += p.out[p.out[9]];
}

TEST(Simulator, MovesPacksAndReadsElementsAsIndices) {
  Machine machine;
  const Array<int32_t> out(machine, {1, -2, 3, 4, 5, 6, 7, 8, 9, 4});
  expect_none(launch<packs>(machine, {}, {{out.data()}}));
  // Byte 4 is the low byte of -2; then element 8 adds element out[9] = 4.
  EXPECT_EQ(out.values(), (std::vector<int32_t>{5, 4, 7, 8, 5, 6, 7, 8, 14, 4}));
}

void fails_late(const Ints& p) {
  p.out[thread_index()] = 1;
  barrier();
  if (thread_index() == 40) p.out[-1] = 1;
  barrier();
  p.out[thread_index()] = 2;
}

TEST(Simulator, OutlivesAFaultWithItsMemory) {
  Machine machine;
  const Array<int32_t> out(machine, std::vector<int32_t>(64));
  for (int i = 0; i < 3; ++i) {
    const auto fault = launch<fails_late>(machine, {.threads = 64}, {{out.data()}});
    ASSERT_TRUE(fault.has_value());
    EXPECT_EQ(out.values(), std::vector<int32_t>(64, 1));
    expect_none(launch<writes_grid>(machine, {.threads = 64}, {{out.data()}}));
  }
}

TEST(Simulator, MachinesOfSeveralThreadsDoNotMeet) {
  const auto sums_are_right = [](bool* right) {
    Machine machine;
    const Array<float> x(machine, counting(20 * 100));
    const Array<float> y(machine, std::vector<float>(20));
    for (int i = 0; i < 20; ++i) {
      expect_none(
          launch<row_sums>(machine, {.blocks = 20, .threads = 64}, {{x.data()}, {y.data()}, 100}));
    }
    const std::vector<float> sums = y.values();
    *right = sums.front() == 5050 && sums.back() == 195050;  // 1901 + ... + 2000
  };
  bool right[3] = {};
  std::vector<std::thread> threads;
  for (bool& one : right) threads.emplace_back(sums_are_right, &one);
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(right[0] && right[1] && right[2]);
}

TEST(Simulator, PoisonsFreshMemory) {
  Machine machine({.poison = 0x7fc12345U});
  uint32_t words[3] = {};
  void* const x = machine.allocate(sizeof words);
  expect_none(machine.read(words, x, sizeof words));
  EXPECT_EQ(words[0], 0x7fc12345U);
  EXPECT_EQ(words[2], 0x7fc12345U);
}

TEST(Simulator, HostAccessesStayWithinLiveMemory) {
  Machine machine;
  auto* const x = static_cast<char*>(machine.allocate(100));
  auto* const y = static_cast<char*>(machine.allocate(100));
  EXPECT_EQ(machine.allocation_count(), 2U);
  EXPECT_EQ(machine.allocated_bytes(), 200U);
  char bytes[101] = {};
  expect_none(machine.write(x, bytes, 100));
  EXPECT_TRUE(machine.write(x, bytes, 101));
  EXPECT_TRUE(machine.write(x + 1, bytes, 100));
  EXPECT_TRUE(machine.read(bytes, x - 1, 1));
  EXPECT_TRUE(machine.copy(y, x + 50, 51));
  EXPECT_TRUE(machine.fill(y + 100, 0, 1));
  expect_none(machine.copy(y, x, 100));
  EXPECT_TRUE(machine.release(x + 1));
  expect_none(machine.release(x));
  EXPECT_TRUE(machine.release(x));
  EXPECT_TRUE(machine.read(bytes, x, 1));
  EXPECT_EQ(machine.allocation_count(), 1U);
  EXPECT_EQ(machine.allocated_bytes(), 100U);
}

void writes_far(const Ints& p) {
  if (thread_index() == 0) p.out[(int64_t{1} << 31) + 5] = 1;
}

TEST(Simulator, AddressesMoreThan2To31ElementsWithoutHoldingThem) {
  Machine machine({.poison_bytes_max = 0});
  const size_t bytes = ((size_t{1} << 31) + 16) * sizeof(int32_t);
  auto* const x = static_cast<int32_t*>(machine.allocate(bytes));
  ASSERT_NE(x, nullptr);
  expect_none(launch<writes_far>(machine, {}, {{x}}));
  int32_t got[2] = {};
  expect_none(machine.read(got, x + (size_t{1} << 31) + 4, sizeof got));
  EXPECT_EQ(got[0], 0);
  EXPECT_EQ(got[1], 1);
}

}  // namespace
}  // namespace gdn
