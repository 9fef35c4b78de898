// Kernels by steps: the bits that stacks of threads give, and every fault that steps can still
// have.
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <vector>

#include "tests/simt_planted.h"

namespace gdn {

enum class Planted { none, no_barrier, barrier_in_step, warp_call_in_step, outside, nested, race };

// x[i] becomes the sum of x over the other warp of two, plus i: `fault` is what is wrong with it.
template <bool by_steps, Planted fault>
void sums_of_the_other_warp(const Floats& p) {
  GDN_SHARED(float, of_warp, 2);
  if (fault == Planted::outside) p.x[0] = 1;
  Steps<float> steps;
  steps([&](float& sum) { sum = p.x[thread_index()]; });
  steps.warp_tree_sum();
  steps([&](const float& sum) {
    if (lane() == 0) of_warp[warp_index()] = sum;
    if (fault == Planted::barrier_in_step) barrier();
    if (fault == Planted::warp_call_in_step) syncwarp();
    if (fault == Planted::nested) Steps<float>()([](float&) {});
    if (fault == Planted::race) of_warp[0] = sum;
  });
  if (fault != Planted::no_barrier) steps.barrier();
  steps([&](const float&) {
    p.x[thread_index()] = of_warp[1 - warp_index()] + static_cast<float>(thread_index());
  });
}
template <>
inline constexpr bool runs_by_steps<sums_of_the_other_warp<true, Planted::none>> = true;
template <>
inline constexpr bool runs_by_steps<sums_of_the_other_warp<true, Planted::no_barrier>> = true;
template <>
inline constexpr bool runs_by_steps<sums_of_the_other_warp<true, Planted::barrier_in_step>> = true;
template <>
inline constexpr bool runs_by_steps<sums_of_the_other_warp<true, Planted::warp_call_in_step>> =
    true;
template <>
inline constexpr bool runs_by_steps<sums_of_the_other_warp<true, Planted::outside>> = true;
template <>
inline constexpr bool runs_by_steps<sums_of_the_other_warp<true, Planted::nested>> = true;
template <>
inline constexpr bool runs_by_steps<sums_of_the_other_warp<true, Planted::race>> = true;

namespace {

using simt::FaultKind;
using simt::Machine;
using simt::Options;

template <bool by_steps, Planted fault>
std::optional<simt::Fault> caught(unsigned threads = 64) {
  return run<sums_of_the_other_warp<by_steps, fault>>({.threads = threads});
}

template <bool by_steps>
std::vector<float> sums(const Options& options) {
  Machine machine(options);
  std::vector<float> values(64);
  for (size_t i = 0; i < values.size(); ++i) values[i] = 1.0F / static_cast<float>(i + 3);
  const size_t bytes = values.size() * sizeof(float);
  auto* const x = static_cast<float*>(machine.allocate(bytes));
  EXPECT_FALSE(machine.write(x, values.data(), bytes));
  const auto fault =
      launch<sums_of_the_other_warp<by_steps, Planted::none>>(machine, {.threads = 64}, {{x}, 64});
  EXPECT_FALSE(fault.has_value()) << fault->text();
  EXPECT_FALSE(machine.read(values.data(), x, bytes));
  return values;
}

TEST(SimulatedSteps, GiveTheBitsOfThreadsWithStacks) {
  const std::vector<float> want = sums<false>({});
  for (const bool checks : {true, false}) {
    for (const uint64_t seed : {0U, 1U, 2U}) {
      const std::vector<float> got = sums<true>({.checks = checks, .order_seed = seed});
      EXPECT_EQ(std::memcmp(got.data(), want.data(), want.size() * sizeof(float)), 0)
          << "checks " << checks << ", order " << seed;
    }
  }
  EXPECT_NE(want[0], want[1]);
}

TEST(SimulatedSteps, AMissingBarrierIsARace) {
  for (const auto& fault :
       {caught<true, Planted::no_barrier>(), caught<false, Planted::no_barrier>()}) {
    ASSERT_TRUE(fault.has_value());
    const bool is_early_read = fault->kind == FaultKind::uninitialised_read;
    EXPECT_TRUE(fault->kind == FaultKind::race || is_early_read) << fault->text();
  }
}

TEST(SimulatedSteps, TwoThreadsThatWriteOneWordInAStepAreARace) {
  const auto fault = caught<true, Planted::race>();
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind, FaultKind::race) << fault->text();
}

TEST(SimulatedSteps, WaitingWithinAStepIsAFault) {
  for (const auto& fault :
       {caught<true, Planted::barrier_in_step>(), caught<true, Planted::warp_call_in_step>(),
        caught<true, Planted::nested>()}) {
    ASSERT_TRUE(fault.has_value());
    EXPECT_EQ(fault->kind, FaultKind::divergent_barrier) << fault->text();
    EXPECT_NE(fault->detail.find("within a step"), std::string::npos) << fault->detail;
  }
}

TEST(SimulatedSteps, AnAccessOutsideAStepIsAFault) {
  const auto fault = caught<true, Planted::outside>();
  ASSERT_TRUE(fault.has_value());
  EXPECT_NE(fault->detail.find("outside a step"), std::string::npos) << fault->detail;
}

TEST(SimulatedSteps, ASumOfAWarpNeedsWholeWarps) {
  for (const auto& fault : {caught<true, Planted::none>(40), caught<false, Planted::none>(40)}) {
    ASSERT_TRUE(fault.has_value());
    EXPECT_EQ(fault->kind, FaultKind::divergent_warp) << fault->text();
  }
  EXPECT_FALSE((caught<true, Planted::none>().has_value()));
}

}  // namespace
}  // namespace gdn
