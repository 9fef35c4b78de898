// Kernels on a simulated machine, with all its checks; the contract that they declare; and a
// float32 sum in exactly a declared order, to which a kernel must be equal bit for bit.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "device/kernels/platform.h"
#include "invariants/harness/verdict.h"
#include "reference/contract.h"
#include "reference/formats.h"
#include "reference/rng.h"

namespace gdn {

// What docs/kernels.md says of the kernels.
inline Contract kernel_contract() {
  using Kind = Reduction::Stage::Kind;
  const auto order = [](std::vector<Reduction::Stage> stages) {
    Reduction reduction;
    reduction.kind = Reduction::Kind::order;
    reduction.stages = std::move(stages);
    return reduction;
  };
  Contract contract;
  contract.name = "kernels";
  contract.in_proj =
      order({{Kind::stride, 256, true}, {Kind::block, 4, false}, {Kind::tree_adjacent, 0, false}});
  contract.out_proj = contract.in_proj;
  contract.conv = order({{Kind::serial, 0, true}});
  contract.qk_norm = order({{Kind::stride, 32, true}, {Kind::tree_adjacent, 0, false}});
  contract.gated_norm = contract.qk_norm;
  contract.delta_u = order({{Kind::stride, 16, true}, {Kind::tree_adjacent, 0, false}});
  contract.delta_o = contract.delta_u;
  contract.functions = {.exp_ulp = 0.5,
                        .exp_ulp_per_x = 0,
                        .log1p_ulp = 0.5,
                        .rsqrt_ulp = 0.5,
                        .sigmoid_ulp = 0.5,
                        .division_ulp = 0.5,
                        .sqrt_ulp = 0.5};
  contract.qk_norm_form = NormForm::rsqrt;
  contract.gated_norm_form = NormForm::rsqrt;
  contract.mean = MeanForm::divide;
  contract.q_scale = QScaleForm::rounded_constant;
  contract.softplus = SoftplusForm::log1p_thresholds;
  contract.gate_sum_form_below = -20;
  contract.decay = DecayForm::first;
  contract.q4_projection = Reduction{.kind = Reduction::Kind::depth,
                                     .depth_a = 6,
                                     .depth_b = 1,
                                     .depth_c = 1024,
                                     .depth_d = 0,
                                     .stages = {}};
  contract.q4_activation_bits = 30;
  return contract;
}

// One stage of a sum on the results of the one before.
inline std::vector<float> walked_stage(const Reduction::Stage& stage, std::vector<float> terms) {
  using Kind = Reduction::Stage::Kind;
  const size_t size = stage.kind == Kind::serial ? terms.size() : static_cast<size_t>(stage.size);
  std::vector<float> sums;
  if (stage.kind == Kind::stride) {
    sums.assign(std::min(size, terms.size()), 0.0F);
    for (size_t i = 0; i < terms.size(); ++i) sums[i % size] += terms[i];
    return sums;
  }
  if (stage.kind == Kind::tree_adjacent) {
    for (; terms.size() > 1; terms = sums) {
      sums.clear();
      for (size_t i = 0; i + 1 < terms.size(); i += 2) sums.push_back(terms[i] + terms[i + 1]);
      if (terms.size() % 2 == 1) sums.push_back(terms.back());
    }
    return terms;
  }
  for (size_t i = 0; i < terms.size(); ++i) {
    if (i % size == 0) sums.push_back(0.0F);
    sums.back() += terms[i];
  }
  return sums;
}

// sum a_i b_i in float32: the first stage is one of fused multiply-adds, by stride or serial.
inline float walked_sum(const Reduction& order, std::span<const float> a,
                        std::span<const float> b) {
  const Reduction::Stage& first = order.stages.front();
  const bool serial = first.kind == Reduction::Stage::Kind::serial;
  const size_t size = serial ? 1 : static_cast<size_t>(first.size);
  std::vector<float> sums(std::min(size, a.size()), 0.0F);
  for (size_t i = 0; i < a.size(); ++i) sums[i % size] = std::fma(a[i], b[i], sums[i % size]);
  for (size_t s = 1; s < order.stages.size(); ++s) sums = walked_stage(order.stages[s], sums);
  return sums.empty() ? 0.0F : sums[0];
}

// Numbers of either sign, scaled; none is zero.
inline std::vector<float> drawn(Rng& rng, int64_t count, float scale = 1) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back((rng.signed_unit() + 0x1p-24F) * scale);
  return values;
}

// Tiles of drawn nibbles with drawn scales between 2^-10 and 2^4, of either sign.
inline std::vector<uint8_t> drawn_tiles(Rng& rng, int64_t rows, int64_t cols) {
  std::vector<uint8_t> tiles(static_cast<size_t>(rows / 4 * (cols / 32) * q4_tile_bytes));
  for (size_t i = 0; i < tiles.size(); ++i) {
    tiles[i] = static_cast<uint8_t>(rng.next());
    const size_t in_tile = i % static_cast<size_t>(q4_tile_bytes);
    const bool is_high_byte_of_scale = in_tile < 8 && in_tile % 2 == 1;
    if (is_high_byte_of_scale) {
      const int64_t exponent = rng.range(5, 19);
      tiles[i] = static_cast<uint8_t>((rng.next() & 0x83U) | static_cast<uint64_t>(exponent << 2));
    }
  }
  return tiles;
}

class SimulatedMachine {
 public:
  explicit SimulatedMachine(uint64_t order_seed = 0, bool checks = true)
      : machine_({.checks = checks, .order_seed = order_seed}) {}

  template <class T>
  T* put(const std::vector<T>& values) {
    T* const data = fresh<T>(values.size());
    EXPECT_FALSE(machine_.write(data, values.data(), values.size() * sizeof(T)));
    return data;
  }
  // Nobody has written it: reading it in a kernel is a fault.
  template <class T>
  T* fresh(size_t count) {
    return static_cast<T*>(machine_.allocate(count * sizeof(T)));
  }
  template <class T>
  std::vector<T> get(const T* from, size_t count) {
    std::vector<T> values(count);
    EXPECT_FALSE(machine_.read(values.data(), from, count * sizeof(T)));
    return values;
  }
  template <auto kernel>
  void run(const LaunchShape& shape, const Params<kernel>& params) {
    const std::optional<simt::Fault> fault = launch<kernel>(machine_, shape, params);
    if (fault) ADD_FAILURE() << fault->text();
  }

 private:
  simt::Machine machine_;
};

// `result(order_seed, threads)` must be the same bits for each number of threads in two orders.
// Returns it.
template <class Result>
std::vector<float> same_in_every_launch(std::initializer_list<unsigned> threads, Result result) {
  const std::vector<float> first = result(uint64_t{0}, *threads.begin());
  for (const unsigned count : threads) {
    for (const uint64_t order_seed : {uint64_t{1}, uint64_t{2}}) {
      const Verdict same = same_bits("another launch", result(order_seed, count), first);
      EXPECT_TRUE(same.holds()) << same.detail << " (" << count << " threads)";
    }
  }
  return first;
}

inline void expect_within(const char* what, std::span<const float> got, const Bounded& want) {
  const Verdict verdict = within(what, got, want);
  EXPECT_EQ(verdict.outcome, Outcome::holds) << verdict.detail;
}

inline void expect_same(const char* what, std::span<const float> got, std::span<const float> want) {
  const Verdict verdict = same_bits(what, got, want);
  EXPECT_TRUE(verdict.holds()) << verdict.detail;
}

}  // namespace gdn
