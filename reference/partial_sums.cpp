// Sizes of the partial sums of a float32 dot product, and the error bound that they give.
//
// Let a sum of terms t_i = x_i w_i be evaluated as a binary tree of n - 1 additions whose longest
// chain is m. Each rounding is a local error that passes on to the root unchanged, since the exact
// sum of a tree's leaves is linear in them, so that with unrounded inputs a^, b^ of addition k
//   s^ - s = sum_i (t^_i - t_i) + sum_k d_k (a^_k + b^_k),   |d_k| <= u.
// a^_k + b^_k differs from the exact p_k by the local errors beneath: at most gamma(m) times the
// sum of |t_i| beneath k, and each t_i lies beneath at most m additions. With
// |t^_i - t_i| <= u |t_i| + eta that is
//   |s^ - s| <= u (sum |p_k| + (1 + u) sum |t_i|) + u m gamma(m + 1) sum |t_i|
//               + (1 + gamma(m)) n eta.
// A fused multiply-add has no rounding of its product, so only the products that open an
// accumulator count. The classical bound gamma(m + 1) sum |t_i| + (1 + gamma(m)) n eta (Higham,
// 3.1) holds as well, and the lesser is taken.
//
// Rounding to nearest errs by half an ulp, u times the power of two at or below what is rounded,
// and not by u times all of it (Muller et al., Handbook of Floating-Point Arithmetic, 2nd ed.,
// 2.6; sums of float32 numbers below 2^-126 are exact). Where the sizes of the a^_k + b^_k are
// known, `roundings` sums up those powers of two.
#include "reference/partial_sums.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "reference/any_tree.h"
#include "reference/parallel_for.h"

#ifdef __FAST_MATH__
#error "a bound is no bound under fast math"
#endif

namespace gdn {
namespace {

constexpr double double_subnormal = 0x1p-1074;
constexpr int64_t rows_together = 8;

using Stage = Reduction::Stage;

// The same element of several rows.
template <int rows>
struct Lanes {
  double of[rows];
};

template <int rows>
void add(Lanes<rows>& sum, const Lanes<rows>& term, Lanes<rows>& magnitudes) {
  for (int r = 0; r < rows; ++r) {
    const double result = sum.of[r] + term.of[r];
    sum.of[r] = result;
    magnitudes.of[r] += std::fabs(result);
  }
}

template <int rows>
void add_magnitude(const Lanes<rows>& term, Lanes<rows>& magnitudes) {
  for (int r = 0; r < rows; ++r) magnitudes.of[r] += std::fabs(term.of[r]);
}

template <int rows>
void add_larger_magnitude(const Lanes<rows>& one, const Lanes<rows>& two, Lanes<rows>& magnitudes) {
  for (int r = 0; r < rows; ++r) {
    magnitudes.of[r] += std::fmax(std::fabs(one.of[r]), std::fabs(two.of[r]));
  }
}

// Applies one stage to terms[0, count) in place; returns how many are left.
template <int rows>
size_t walk_stage(const Stage& stage, Lanes<rows>* terms, size_t count, Lanes<rows>& magnitudes) {
  const size_t size = static_cast<size_t>(std::max<int64_t>(1, stage.size));
  switch (stage.kind) {
    case Stage::Kind::stride:
      for (size_t begin = size; begin < count; begin += size) {
        const size_t width = std::min(size, count - begin);
        for (size_t i = 0; i < width; ++i) add(terms[i], terms[begin + i], magnitudes);
      }
      return std::min(size, count);
    case Stage::Kind::block:
    case Stage::Kind::serial: {
      const size_t length = stage.kind == Stage::Kind::serial ? count : size;
      size_t blocks = 0;
      for (size_t begin = 0; begin < count; begin += length, ++blocks) {
        Lanes<rows> sum = terms[begin];
        const size_t end = std::min(count, begin + length);
        for (size_t i = begin + 1; i < end; ++i) add(sum, terms[i], magnitudes);
        terms[blocks] = sum;
      }
      return blocks;
    }
    case Stage::Kind::tree_adjacent:
      while (count > 1) {
        for (size_t pair = 0; pair < count / 2; ++pair) {
          Lanes<rows> sum = terms[2 * pair];
          add(sum, terms[2 * pair + 1], magnitudes);
          terms[pair] = sum;
        }
        if (count % 2 != 0) terms[count / 2] = terms[count - 1];
        count = (count + 1) / 2;
      }
      return count;
    case Stage::Kind::tree_halves:
      while (count > 1) {
        const size_t half = (count + 1) / 2;
        for (size_t i = 0; i < count / 2; ++i) add(terms[i], terms[i + half], magnitudes);
        count = half;
      }
      return count;
  }
  return count;
}

// The products that a fused first stage still rounds on their own: the first of an accumulator, of
// a pair in a tree the one that the order does not say (the larger), and a tree's unpaired one.
template <int rows>
void count_lone_products(const Stage& stage, const Lanes<rows>* terms, size_t count,
                         Lanes<rows>& magnitudes) {
  const size_t size = static_cast<size_t>(std::max<int64_t>(1, stage.size));
  const size_t half = (count + 1) / 2;
  switch (stage.kind) {
    case Stage::Kind::stride:
      for (size_t i = 0; i < std::min(size, count); ++i) add_magnitude(terms[i], magnitudes);
      return;
    case Stage::Kind::block:
      for (size_t i = 0; i < count; i += size) add_magnitude(terms[i], magnitudes);
      return;
    case Stage::Kind::serial:
      add_magnitude(terms[0], magnitudes);
      return;
    case Stage::Kind::tree_adjacent:
      for (size_t i = 0; i + 1 < count; i += 2) {
        add_larger_magnitude(terms[i], terms[i + 1], magnitudes);
      }
      if (count % 2 != 0) add_magnitude(terms[count - 1], magnitudes);
      return;
    case Stage::Kind::tree_halves:
      for (size_t i = 0; i < count / 2; ++i) {
        add_larger_magnitude(terms[i], terms[i + half], magnitudes);
      }
      if (count % 2 != 0) add_magnitude(terms[half - 1], magnitudes);
      return;
  }
}

bool is_fused(const Reduction& reduction) {
  return reduction.kind == Reduction::Kind::order && !reduction.stages.empty() &&
         reduction.stages.front().fused;
}

// Sum |p_k| as computed in double; overwrites the terms. What the stages leave is summed serially.
template <int rows>
Lanes<rows> walk(const Reduction& reduction, Lanes<rows>* terms, size_t count) {
  Lanes<rows> magnitudes{};
  if (count == 0) return magnitudes;
  if (is_fused(reduction)) {
    count_lone_products(reduction.stages.front(), terms, count, magnitudes);
  }
  for (const Stage& stage : reduction.stages) count = walk_stage(stage, terms, count, magnitudes);
  walk_stage(Stage{}, terms, count, magnitudes);
  return magnitudes;
}

// The walk's own rounding. A partial sum in double misses the exact one by at most m + 1 roundings
// of each term beneath it (one for the term itself), each term lies beneath m additions, and a
// term that underflowed in double is off by half a subnormal more.
SumMagnitudes of_walk(double walked, double sum_abs, double depth, size_t terms, bool fused) {
  const double n = static_cast<double>(terms);
  SumMagnitudes result{.depth = depth, .terms = static_cast<int64_t>(terms), .fused = fused};
  result.sum_abs = rounded_up(sum_abs, n) + n * double_subnormal;
  const double walk_error =
      depth * (2 * (depth + 1) * double_roundoff * result.sum_abs + n * double_subnormal);
  result.partial_sums = rounded_up(walked, 2 * n) + walk_error;
  return result;
}

// Every partial sum is the sum of a subset of the terms, so it lies in [-P-, P+], P+ and P- the
// sums of the positive terms and of the magnitudes of the negative ones; P+ - P- is the sum and
// P+ + P- is sum_abs. And each term lies beneath at most m additions.
double of_any_order(double sum, double sum_error, double sum_abs, double depth, double terms) {
  const double subset_max = std::min(sum_abs, (sum_abs + std::fabs(sum) + sum_error) / 2);
  return rounded_up(std::min((terms - 1) * subset_max, depth * sum_abs), 4);
}

// Terms of up to eight rows of w times x, element by element. Lanes without a row repeat the last.
void load_terms(const float* w, int64_t rows, int64_t cols, std::span<const double> x,
                Lanes<rows_together>* terms) {
  const float* row[rows_together];
  for (int64_t r = 0; r < rows_together; ++r) row[r] = w + std::min(r, rows - 1) * cols;
  for (int64_t i = 0; i < cols; ++i) {
    const double factor = x[static_cast<size_t>(i)];
    for (int r = 0; r < rows_together; ++r) {
      terms[i].of[r] = static_cast<double>(row[r][i]) * factor;
    }
  }
}

struct Sums {
  Lanes<rows_together> sum{}, sum_abs{};
};

Sums sums_of(const std::vector<Lanes<rows_together>>& terms) {
  Sums sums;
  for (const Lanes<rows_together>& term : terms) {
    for (int r = 0; r < rows_together; ++r) {
      sums.sum.of[r] += term.of[r];
      sums.sum_abs.of[r] += std::fabs(term.of[r]);
    }
  }
  return sums;
}

// Of terms in an order that is not declared.
SumMagnitudes of_terms(std::span<const double> terms, double depth) {
  double sum = 0, sum_abs = 0;
  for (double term : terms) {
    sum += term;
    sum_abs += std::fabs(term);
  }
  SumMagnitudes result = of_walk(0, sum_abs, depth, terms.size(), false);
  if (terms.size() < 2) return result;
  const double n = static_cast<double>(terms.size());
  const double sum_error = 2 * (n + 1) * double_roundoff * result.sum_abs;
  result.partial_sums = of_any_order(sum, sum_error, result.sum_abs, depth, n);
  if (terms.size() > terms_in_trees_max) return result;
  const double terms_error = sum_error + n * double_subnormal;
  const double off = gamma(depth + 1) * result.sum_abs * bound_slack +
                     (1 + gamma(depth)) * n * underflow_unit + terms_error;
  const OfAnyTree trees = of_any_tree(terms, off);
  result.partial_sums = std::min(result.partial_sums, trees.partial_sums + n * terms_error);
  result.roundings = trees.roundings;
  return result;
}

// Up to eight rows; `terms` is overwritten.
void of_rows(const Reduction& reduction, std::vector<Lanes<rows_together>>& terms, double depth,
             std::span<SumMagnitudes> out) {
  if (reduction.kind != Reduction::Kind::order && terms.size() <= terms_in_trees_max) {
    std::vector<double> row(terms.size());
    for (size_t r = 0; r < out.size(); ++r) {
      for (size_t i = 0; i < terms.size(); ++i) row[i] = terms[i].of[r];
      out[r] = of_terms(row, depth);
    }
    return;
  }
  const Sums sums = sums_of(terms);
  Lanes<rows_together> walked{};
  if (reduction.kind == Reduction::Kind::order) {
    walked = walk(reduction, terms.data(), terms.size());
  }
  const double n = static_cast<double>(terms.size());
  for (size_t r = 0; r < out.size(); ++r) {
    out[r] = of_walk(walked.of[r], sums.sum_abs.of[r], depth, terms.size(), is_fused(reduction));
    if (reduction.kind == Reduction::Kind::order) continue;
    const double sum_error = 2 * (n + 1) * double_roundoff * out[r].sum_abs;
    out[r].partial_sums = of_any_order(sums.sum.of[r], sum_error, out[r].sum_abs, depth, n);
  }
}

}  // namespace

SumMagnitudes sum_magnitudes(const Reduction& reduction, std::span<const double> terms) {
  const double depth = depth_of(reduction, static_cast<int64_t>(terms.size()));
  if (reduction.kind == Reduction::Kind::order) {
    double sum_abs = 0;
    for (double term : terms) sum_abs += std::fabs(term);
    std::vector<Lanes<1>> lanes(terms.size());
    for (size_t i = 0; i < terms.size(); ++i) lanes[i].of[0] = terms[i];
    const double walked = walk(reduction, lanes.data(), lanes.size()).of[0];
    return of_walk(walked, sum_abs, depth, terms.size(), is_fused(reduction));
  }
  SumMagnitudes result = of_terms(terms, depth);
  result.roundings = infinity;
  return result;
}

SumMagnitudes sum_magnitudes(const Reduction& reduction, double sum, double sum_abs,
                             int64_t terms) {
  const double depth = depth_of(reduction, terms);
  SumMagnitudes result{.sum_abs = sum_abs, .depth = depth, .terms = terms};
  if (terms < 2) return result;
  result.partial_sums =
      of_any_order(sum, 0x1p-40 * sum_abs, sum_abs, depth, static_cast<double>(terms));
  return result;
}

void sum_magnitudes(const Reduction& reduction, const float* w, int64_t rows, int64_t cols,
                    std::span<const double> x, std::span<SumMagnitudes> out) {
  const double depth = depth_of(reduction, cols);
  const int64_t groups = (rows + rows_together - 1) / rows_together;
  // A thread costs some 20 us; a group of rows costs about 10 ns a column. One group has no other.
  const int64_t grain = 16384 / std::max<int64_t>(1, cols) + 2;
  parallel_for(groups, grain, [&](int64_t begin, int64_t end) {
    std::vector<Lanes<rows_together>> terms(static_cast<size_t>(cols));
    for (int64_t group = begin; group < end; ++group) {
      const int64_t first = group * rows_together;
      const int64_t count = std::min(rows_together, rows - first);
      load_terms(w + first * cols, count, cols, x, terms.data());
      of_rows(reduction, terms, depth,
              out.subspan(static_cast<size_t>(first), static_cast<size_t>(count)));
    }
  });
}

double subnormal_terms(std::span<const float> w, std::span<const double> x) {
  const auto is_subnormal = [](double number) {
    return number != 0 && std::fabs(number) < flush_unit;
  };
  double sum = 0;
  for (size_t i = 0; i < w.size(); ++i) {
    const double weight = w[i];
    if (is_subnormal(weight) || is_subnormal(x[i])) sum += std::fabs(weight * x[i]);
  }
  return rounded_up(sum, static_cast<double>(w.size()));
}

double dot_error(const SumMagnitudes& magnitudes, const Flushing& flushing) {
  if (magnitudes.terms == 0) return 0;
  constexpr double u = unit_roundoff;
  const double m = magnitudes.depth;
  const double n = static_cast<double>(magnitudes.terms);
  const double sum_abs = magnitudes.sum_abs;
  // Not below Omega, or NaN: some partial sum may overflow, or a term is no number.
  if (!((1 + gamma(m + 1)) * sum_abs * bound_slack < overflow_threshold)) return infinity;
  const double products = magnitudes.fused ? 0 : (1 + u) * sum_abs;
  double rounding =
      std::min(u * (magnitudes.partial_sums + products) + u * m * gamma(m + 1) * sum_abs,
               gamma(m + 1) * sum_abs);
  // What an engine that flushes loses beyond rounding may lift a sum into the next binade.
  if (!flushing.flushes) rounding = std::min(rounding, u * (magnitudes.roundings + products));
  // Keeping subnormals, each product may underflow by eta. Flushing, each of n products and n - 1
  // additions may lose the smallest normal number, and terms with a subnormal factor may be lost
  // whole, which also moves the partial sums, each term m of them: (1 + u m) of what is lost.
  const double underflow = flushing.flushes ? (2 * n - 1) * flush_unit : n * underflow_unit;
  const double lost = flushing.flushes ? (1 + gamma(m + 1)) * flushing.lost : 0;
  return (rounding + (1 + gamma(m)) * underflow + lost) * bound_slack;
}

double dot_error(const Reduction& reduction, std::span<const double> terms,
                 const Flushing& flushing) {
  return dot_error(sum_magnitudes(reduction, terms), flushing);
}

}  // namespace gdn
