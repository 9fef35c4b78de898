// Theorem. Let every rounding error of a sum have mean zero given the operations before it. The
// error is then e = sum_k d_k r_k (partial_sums.cpp), r_k what operation k rounds: a martingale,
// since r_k is known before d_k is drawn. Rounding to nearest errs by half an ulp at most, u c_k
// with c_k the power of two at or below |r_k|, and |r_k| <= |p_k| + off, p_k its exact result and
// off = gamma(m + 1) sum |t_i| + (1 + gamma(m)) n eta. By Azuma and Hoeffding, for any fixed
// weights a_r of the rows r of a tensor,
//   P(|sum_r a_r e_r| > lambda sqrt(sum_r a_r^2 s_r^2)) <= 2 exp(-lambda^2 / 2),
//   s_r^2 = u^2 sum_k c_k^2, over additions and rounded products.
// A product that underflows adds at most eta, which has no mean: `certain`.
#ifdef __FAST_MATH__
#error "rounding errors need IEEE arithmetic: build without fast math"
#endif

#include "reference/rounding_spread.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "reference/bound.h"
#include "reference/exact_dot.h"
#include "reference/parallel_for.h"

namespace gdn {
namespace {

using Stage = Reduction::Stage;

// What an operation of the walk gives, and what the walk keeps of it.
struct Float32 {
  using Number = float;
  Number product(float w, float x) { return w * x; }
  Number fused(float w, float x, Number sum) { return std::fma(w, x, sum); }
  Number add(Number a, Number b) { return a + b; }
};

// Of a finite number: its mantissa is cut off. Of zero and of subnormals of double, zero.
double power_of_two_below(double positive) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(positive) & 0x7FF0000000000000U);
}

// Rounding of double itself is far below what `off` allows for.
struct Spreading {
  using Number = double;
  double off = 0, squares = 0, drift = 0;

  Number rounded(double exact) {
    const double size = power_of_two_below(std::fabs(exact) + off);
    squares += size * size;
    drift -= std::copysign(size, exact);
    return exact;
  }
  Number product(float w, float x) { return rounded(double{w} * x); }
  Number fused(float w, float x, Number sum) { return rounded(double{w} * x + sum); }
  Number add(Number a, Number b) { return rounded(a + b); }
};

// Where element i of `count` goes in a stage, and how many results there are.
size_t result_count(const Stage& stage, size_t count) {
  const size_t size = static_cast<size_t>(std::max<int64_t>(1, stage.size));
  switch (stage.kind) {
    case Stage::Kind::stride:
      return std::min(size, count);
    case Stage::Kind::block:
      return (count + size - 1) / size;
    case Stage::Kind::serial:
      return std::min<size_t>(1, count);
    case Stage::Kind::tree_adjacent:
    case Stage::Kind::tree_halves:
      return (count + 1) / 2;
  }
  return count;
}

size_t result_of(const Stage& stage, size_t i, size_t count) {
  const size_t size = static_cast<size_t>(std::max<int64_t>(1, stage.size));
  switch (stage.kind) {
    case Stage::Kind::stride:
      return i % size;
    case Stage::Kind::block:
      return i / size;
    case Stage::Kind::serial:
      return 0;
    case Stage::Kind::tree_adjacent:
      return i / 2;
    case Stage::Kind::tree_halves:
      return i % ((count + 1) / 2);
  }
  return i;
}

bool is_tree(const Stage& stage) {
  return stage.kind == Stage::Kind::tree_adjacent || stage.kind == Stage::Kind::tree_halves;
}

// One pass over `count` elements: of a tree a single level.
template <class Machine, class Opened, class Added>
size_t pass(const Stage& stage, size_t count, std::vector<typename Machine::Number>& sums,
            const Opened& opened, const Added& added) {
  const size_t results = result_count(stage, count);
  std::vector<typename Machine::Number> next(results);
  std::vector<bool> begun(results, false);
  for (size_t i = 0; i < count; ++i) {
    const size_t at = result_of(stage, i, count);
    next[at] = begun[at] ? added(i, next[at]) : opened(i);
    begun[at] = true;
  }
  sums = std::move(next);
  return results;
}

template <class Machine>
typename Machine::Number walk(const Reduction& order, const float* w, std::span<const float> x,
                              Machine& machine) {
  using Number = typename Machine::Number;
  std::vector<Stage> stages = order.stages;
  stages.emplace_back();  // what they leave is summed serially
  std::vector<Number> sums;
  size_t count = x.size();
  // In a pair of a tree the order does not say which product is rounded: then both count.
  const bool fused = stages.front().fused && !is_tree(stages.front());
  count = pass<Machine>(
      stages.front(), count, sums, [&](size_t i) { return machine.product(w[i], x[i]); },
      [&](size_t i, Number sum) {
        return fused ? machine.fused(w[i], x[i], sum)
                     : machine.add(sum, machine.product(w[i], x[i]));
      });
  const auto take = [&](const Stage& stage) {
    const std::vector<Number> from = sums;
    count = pass<Machine>(
        stage, count, sums, [&](size_t i) { return from[i]; },
        [&](size_t i, Number sum) { return machine.add(sum, from[i]); });
  };
  for (size_t i = 0; i < stages.size(); ++i) {
    if (i > 0) take(stages[i]);
    while (is_tree(stages[i]) && count > 1) take(stages[i]);
  }
  return sums.empty() ? Number{} : sums.front();
}

RoundingSpread spread_of(const Reduction& order, const float* w, std::span<const float> x,
                         const ExactDot& dot) {
  const double n = static_cast<double>(x.size());
  const double depth = depth_of(order, static_cast<int64_t>(x.size()));
  RoundingSpread spread{.value = dot.value};
  spread.certain = dot.radius + (1 + gamma(depth)) * n * underflow_unit;
  Spreading sizes;
  sizes.off = gamma(depth + 1) * dot.sum_abs + spread.certain;
  walk(order, w, x, sizes);
  spread.deviation = unit_roundoff * std::sqrt(sizes.squares) * bound_slack;
  spread.drift = unit_roundoff * sizes.drift;
  return spread;
}

constexpr int64_t terms_a_piece = 65536;  // a thread starts in the time of so many multiply-adds

}  // namespace

std::vector<RoundingSpread> rounding_spreads(const Reduction& order, const float* w, int64_t rows,
                                             int64_t cols, std::span<const float> x) {
  std::vector<ExactDot> dots(static_cast<size_t>(rows));
  exact_matvec(w, rows, cols, x, dots);
  const double depth = depth_of(order, cols);
  for (const ExactDot& dot : dots) {
    const bool is_safe = std::isfinite(dot.value) && std::isfinite(dot.sum_abs) &&
                         (1 + gamma(depth + 1)) * dot.sum_abs < overflow_threshold;
    if (!is_safe) return {};
  }
  std::vector<RoundingSpread> spreads(dots.size());
  parallel_for(rows, terms_a_piece / cols + 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const auto at = static_cast<size_t>(r);
      spreads[at] = spread_of(order, w + r * cols, x, dots[at]);
    }
  });
  return spreads;
}

std::vector<float> float32_sums(const Reduction& order, const float* w, int64_t rows, int64_t cols,
                                std::span<const float> x) {
  std::vector<float> sums(static_cast<size_t>(rows));
  parallel_for(rows, terms_a_piece / cols + 1, [&](int64_t begin, int64_t end) {
    Float32 machine;
    for (int64_t r = begin; r < end; ++r) {
      sums[static_cast<size_t>(r)] = walk(order, w + r * cols, x, machine);
    }
  });
  return sums;
}

}  // namespace gdn
