// A kernel with a planted fault and the same kernel put right, each run once on a fresh machine.
#pragma once

#include <gtest/gtest.h>

#include <optional>

#include "device/kernels/platform.h"

namespace gdn {

struct Floats {
  global<float> x;
  int32_t count = 0;
};

inline constexpr LaunchShape one_warp{.threads = 32};
inline constexpr LaunchShape two_warps{.threads = 64};
inline constexpr LaunchShape two_blocks{.blocks = 2, .threads = 32};

// One allocation of zeros and one launch on it.
template <auto kernel>
std::optional<simt::Fault> run(const LaunchShape& shape, int count = 64) {
  simt::Machine machine;
  const size_t bytes = static_cast<size_t>(count) * sizeof(float);
  auto* const x = static_cast<float*>(machine.allocate(bytes, "x"));
  EXPECT_FALSE(machine.fill(x, 0, bytes));
  return launch<kernel>(machine, shape, {{x}, count});
}

template <auto planted, auto right>
void expect_caught(simt::FaultKind kind, const LaunchShape& shape) {
  const std::optional<simt::Fault> fault = run<planted>(shape);
  ASSERT_TRUE(fault.has_value()) << "the planted fault went unseen";
  EXPECT_EQ(fault->kind, kind) << fault->text();
  const std::optional<simt::Fault> alarm = run<right>(shape);
  EXPECT_FALSE(alarm.has_value()) << "false alarm: " << alarm->text();
}

}  // namespace gdn
