// Theorem. Let every rounding error d_k of a sum have mean zero given the operations before it, and
// |d_k| <= u. The error is then e = sum_k d_k r_k (partial_sums.cpp), r_k what operation k rounds:
// a martingale, since r_k is known before d_k is drawn. |r_k| <= |p_k| + off, p_k its exact result
// and off = gamma(m + 1) sum |t_i| + (1 + gamma(m)) n eta. By Azuma and Hoeffding, for any fixed
// weights a_r of the rows r of a tensor,
//   P(|sum_r a_r e_r| > lambda sqrt(sum_r a_r^2 s_r^2)) <= 2 exp(-lambda^2 / 2),
//   s_r^2 = u^2 sum_k (|p_k| + off)^2, over additions and rounded products.
// A product that underflows adds at most eta, which has no mean: `certain`.
// In an order that is not known, |p_k| <= P, the larger sum of terms of one sign, and sum |p_k| <=
// min((n - 1) P, m sum |t_i|), so that sum p_k^2 <= P times that.
#ifdef __FAST_MATH__
#error "rounding errors need IEEE arithmetic: build without fast math"
#endif

#include "reference/rounding_spread.h"

#include <algorithm>
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

// Rounding of double itself is below 2^-28 of u.
struct Spreading {
  using Number = double;
  double off = 0, squares = 0, drift = 0;

  Number rounded(double exact) {
    const double size = std::fabs(exact) + off;
    squares += size * size;
    drift -= exact;
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

double of_any_order(const ExactDot& dot, double depth, double terms, double off) {
  const double largest = std::min(dot.sum_abs, (dot.sum_abs + std::fabs(dot.value)) / 2) + off;
  const double sizes = std::min((terms - 1) * largest, depth * (dot.sum_abs + off));
  return largest * sizes;
}

RoundingSpread spread_of(const Reduction& order, const float* w, std::span<const float> x,
                         const ExactDot& dot) {
  const double n = static_cast<double>(x.size());
  const double depth = depth_of(order, static_cast<int64_t>(x.size()));
  RoundingSpread spread{.value = dot.value};
  spread.certain = dot.radius + (1 + gamma(depth)) * n * underflow_unit;
  Spreading sizes;
  sizes.off = gamma(depth + 1) * dot.sum_abs + spread.certain;
  if (order.kind == Reduction::Kind::order) {
    walk(order, w, x, sizes);
    spread.drift = unit_roundoff * sizes.drift;
  } else {
    for (size_t i = 0; i < x.size(); ++i) sizes.product(w[i], x[i]);
    sizes.squares += of_any_order(dot, depth, n, sizes.off);
  }
  spread.deviation = unit_roundoff * std::sqrt(sizes.squares) * bound_slack;
  if (order.kind != Reduction::Kind::order) {
    spread.drift = dot.value > 0 ? -spread.deviation : spread.deviation;
  }
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
