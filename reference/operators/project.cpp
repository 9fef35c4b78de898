// y = W x, row by row; W is float32 or 4-bit tiles, decoded exactly; x is float32, or what q8_0
// rounding makes of it (q8_activations.h).
#ifdef __FAST_MATH__
#error "bounds need IEEE arithmetic: build without fast math"
#endif

#include <algorithm>
#include <cmath>
#include <cstring>

#include "reference/exact.h"
#include "reference/formats.h"
#include "reference/functions.h"
#include "reference/operators.h"
#include "reference/parallel_for.h"
#include "reference/q8_activations.h"
#include "reference/row_sums.h"
#include "reference/special.h"

namespace gdn {

template <class R>
R exact_sum_of_products(std::span<const double> w, std::span<const double> x) {
  R sum = 0;
  for (size_t i = 0; i < w.size(); ++i) sum += R(w[i]) * x[i];
  return sum;
}

#define GDN_INSTANTIATE(R) \
  template R exact_sum_of_products<R>(std::span<const double>, std::span<const double>);
GDN_FOR_EACH_REAL(GDN_INSTANTIATE)
#undef GDN_INSTANTIATE

// Bound: that of a dot product in the contract's order (partial_sums.h), at the engine's own x,
// which lies within e of x element by element: what is carried, and for block fixed point of b bits
// 2^(1-b) of the block's largest |x|. This moves y by sum |w| e at most.
// 4-bit tiles: an engine may multiply by a block's scale after its sum, one more level of rounding.
// Where nothing is declared it may also take d (sum code x - 8 sum x): its terms are then
// |d| |x| (code + 8) in all, with two more levels (the difference and the scale).
namespace {

// The activations that every row sees.
struct Activations {
  std::vector<double> value;
  std::vector<double> bound;   // how far the engine's own can lie from them
  std::vector<double> digits;  // by how much its digits may exceed it, summed in absolute value
  bool exact = true;           // bound is zero throughout
  bool ordinary = true;

  RowInputs row_inputs() const {
    return {value, exact ? std::span<const double>() : std::span<const double>(bound), digits};
  }
};

constexpr size_t fixed_point_block = 32;
constexpr int bits_of_one_digit = 8;
constexpr int digits_exceed_by = -12;

// Block fixed point of b bits: a step of 2^(1-b) of the largest in the block, of which rounding or
// truncation loses at most one. Numbers of many bits may be summed up in parts, as digits from -128
// to 127 are: of 2^29 to 2^30 in absolute value, the two high and the two low digits exceed that
// together by twice 2^15 + 2^7, which is less than 2^-12 of the largest. What is exact of the sums
// of parts is exact of the whole; what is rounded, rounds terms that are so much larger.
void add_fixed_point_error(Activations& x, int bits) {
  for (size_t begin = 0; begin < x.value.size(); begin += fixed_point_block) {
    const size_t end = std::min(begin + fixed_point_block, x.value.size());
    double largest = 0;
    for (size_t i = begin; i < end; ++i) {
      largest = std::max(largest, std::abs(x.value[i]) + x.bound[i]);
    }
    // Of an infinity or a NaN there is no step: what its sums must be does not hang on one.
    if (!std::isfinite(largest)) largest = 0;
    for (size_t i = begin; i < end; ++i) {
      x.bound[i] += std::ldexp(largest, 1 - bits);
      if (bits > bits_of_one_digit) x.digits.push_back(std::ldexp(largest, digits_exceed_by));
    }
  }
}

Activations activations_of(const Bounded& x, Dialect::Activation activation, int bits,
                           const FloatModel& model) {
  const bool q8 = activation == Dialect::Activation::q8_0;
  Bounded read = q8 ? q8_0_activations(x) : x;
  Activations result;
  result.value = std::move(read.value);
  result.bound = std::move(read.bound);
  const size_t count = result.value.size();
  result.bound.resize(count, 0);
  for (size_t i = 0; i < count; ++i) {
    result.ordinary = result.ordinary && is_ordinary(result.value[i], result.bound[i]);
    // What is subnormal as it stands is counted among the terms; here, what may become so.
    if (result.bound[i] > 0) result.bound[i] += model.read_error(result.value[i], result.bound[i]);
  }
  if (bits > 0) add_fixed_point_error(result, bits);
  for (double bound : result.bound) result.exact = result.exact && bound == 0;
  return result;
}

// The scale of a tile matrix's block, from its bytes: four f16 scales open a tile of four rows.
double tile_scale(const Matrix& matrix, int64_t row, int64_t block) {
  const int64_t tile = row / q4_tile_rows * (matrix.cols / q4_block_weights) + block;
  const uint8_t* at = matrix.tiles + tile * q4_tile_bytes + row % q4_tile_rows * 2;
  return f16_decode(static_cast<uint16_t>(at[0] | at[1] << 8));
}

// sum |d| (code + 8) |x'|: a weight is d (code - 8), so that d (code + 8) is w + 16 d.
double offset_terms(const Matrix& matrix, int64_t row, const float* w, const Activations& x) {
  double sum = 0;
  for (int64_t block = 0; block < matrix.cols / q4_block_weights; ++block) {
    const double offset = 16 * tile_scale(matrix, row, block);
    const auto begin = static_cast<size_t>(block * q4_block_weights);
    for (size_t i = begin; i < begin + static_cast<size_t>(q4_block_weights); ++i) {
      sum += std::abs(w[i] + offset) * (std::abs(x.value[i]) + x.bound[i]);
    }
  }
  return sum * bound_slack;
}

// All that a row's bound needs.
struct Projection {
  const Matrix& matrix;
  const Activations& x;
  const Reduction& order;
  const FloatModel& model;
  bool q8;
};

// Levels of rounding beyond those of a sum of exact products: see the top.
double scale_levels(const Projection& p) {
  const bool scaled = p.matrix.tiles != nullptr || p.q8;
  if (!scaled || p.order.kind == Reduction::Kind::order) return 0;
  if (p.order.kind == Reduction::Kind::any) return 2;
  return (p.matrix.tiles != nullptr ? 1 : 0) + (p.q8 ? 1 : 0);
}

// Is the form d (sum code x - 8 sum x) possible?
bool offset_form(const Projection& p) {
  return p.matrix.tiles != nullptr && p.order.kind == Reduction::Kind::any;
}

// `w` is read where the offset form is possible, or the engine flushes subnormals.
double row_error(const Projection& p, int64_t row, const float* w, const RowSum& sum,
                 SumMagnitudes magnitudes) {
  magnitudes = widened(magnitudes, sum.carried + sum.digits);
  if (const double levels = scale_levels(p); levels > 0) {
    if (offset_form(p)) {
      magnitudes.sum_abs = std::max(magnitudes.sum_abs, offset_terms(p.matrix, row, w, p.x));
    }
    magnitudes.depth += levels;
    magnitudes.partial_sums = magnitudes.depth * magnitudes.sum_abs;
    magnitudes.roundings = infinity;  // known for sums of the products themselves
  }
  Flushing flushing{.flushes = p.model.flushes};
  const size_t cols = p.x.value.size();
  if (flushing.flushes) flushing.lost = subnormal_terms({w, cols}, p.x.value);
  return sum.carried + dot_error(magnitudes, flushing);
}

// Infinities and NaN: IEEE's rules for a sum in any order; finite terms that can overflow make it
// undecided. With tiles the forms above reach NaN or infinity in different ways: where a weight or
// x is infinite, or a scale NaN, the sum must not be finite, and which one is free; a NaN in x
// gives NaN.
void put_special_row(Bounded& y, size_t at, const Projection& p, const float* w) {
  const std::vector<double> row(w, w + p.x.value.size());
  Classes classes = sum_of_products_classes(row, p.x.value, p.x.bound);
  // A flushed weight times infinity is NaN: free as well.
  const bool free = p.matrix.tiles != nullptr || p.q8 || p.model.flushes;
  bool x_is_nan = false;
  for (size_t i = 0; i < row.size(); ++i) {
    x_is_nan = x_is_nan || classes_of(p.x.value[i], p.x.bound[i]).only(Classes::nan);
  }
  if (free && !x_is_nan && !classes.may_be(finite_classes)) {
    classes.bits = Classes::nan | infinite_classes;
  }
  put_special(y, at, classes);
}

// Rows that are summed up and walked together, while their weights are in a cache.
constexpr int64_t rows_at_a_time = 8;

// In any order, the terms of a long row add nothing to what its sum and sum_abs say.
bool walks(const Projection& p) {
  constexpr int64_t terms_matter_max = 512;
  return p.order.kind == Reduction::Kind::order || p.matrix.cols <= terms_matter_max;
}

void put_row(Bounded& y, const Projection& p, int64_t row, const float* w, const RowSum& sum,
             const SumMagnitudes& magnitudes) {
  const auto at = static_cast<size_t>(row);
  y.value[at] = sum.dot.value;
  y.bound[at] = (sum.dot.radius + row_error(p, row, w, sum, magnitudes)) * bound_slack;
}

SumMagnitudes unwalked(const Projection& p, const ExactDot& dot) {
  return sum_magnitudes(p.order, dot.value, dot.sum_abs, p.matrix.cols);
}

// Rows [first, first + count), at most rows_at_a_time, whose weights stand at w.
void put_few_rows(Bounded& y, const Projection& p, int64_t first, int64_t count, const float* w) {
  const int64_t cols = p.matrix.cols;
  RowSum sums[rows_at_a_time];
  SumMagnitudes magnitudes[rows_at_a_time];
  const bool walk = walks(p);
  if (p.x.ordinary) {
    sum_rows(w, cols, p.x.row_inputs(), std::span(sums, static_cast<size_t>(count)));
    if (walk) sum_magnitudes(p.order, w, count, cols, p.x.value, magnitudes);
  }
  for (int64_t i = 0; i < count; ++i) {
    const float* row = w + i * cols;
    const ExactDot& dot = sums[i].dot;
    if (!p.x.ordinary || !std::isfinite(dot.value) || !std::isfinite(dot.sum_abs)) {
      put_special_row(y, static_cast<size_t>(first + i), p, row);
      continue;
    }
    put_row(y, p, first + i, row, sums[i], walk ? magnitudes[i] : unwalked(p, dot));
  }
}

// Rows [first, first + count), whose weights stand at w, on all cores.
void put_rows(Bounded& y, const Projection& p, int64_t first, int64_t count, const float* w) {
  const int64_t cols = p.matrix.cols;
  const int64_t groups = (count + rows_at_a_time - 1) / rows_at_a_time;
  // A thread starts in the time of so many multiply-adds.
  const int64_t grain = 65536 / (rows_at_a_time * cols) + 1;
  parallel_for(groups, grain, [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) {
      const int64_t row = group * rows_at_a_time;
      put_few_rows(y, p, first + row, std::min(rows_at_a_time, count - row), w + row * cols);
    }
  });
}

// Tiles are decoded some rows at a time: enough to keep all cores busy, few enough to stay small.
void put_tile_rows(Bounded& y, const Projection& p) {
  const int64_t rows_at_once = std::min<int64_t>(512, p.matrix.rows);
  std::vector<float> weights(static_cast<size_t>(rows_at_once * p.matrix.cols));
  for (int64_t first = 0; first < p.matrix.rows; first += rows_at_once) {
    const int64_t count = std::min(rows_at_once, p.matrix.rows - first);
    parallel_for(count, 16, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        p.matrix.decode_row(first + i, weights.data() + i * p.matrix.cols);
      }
    });
    put_rows(y, p, first, count, weights.data());
  }
}

// Where a row's sums say all, its weights are not looked at: whoever has them sums them up.
bool is_summed_elsewhere(const Projection& p) {
  return p.matrix.summed_by != nullptr && p.x.ordinary && !walks(p) && !offset_form(p) &&
         !p.model.flushes;
}

void put_summed_rows(Bounded& y, const Projection& p) {
  std::vector<RowSum> sums(static_cast<size_t>(p.matrix.rows));
  p.matrix.summed_by->take(p.x.row_inputs(), sums);
  parallel_for(p.matrix.rows, 4096, [&](int64_t begin, int64_t end) {
    std::vector<float> weights;
    for (int64_t row = begin; row < end; ++row) {
      const RowSum& sum = sums[static_cast<size_t>(row)];
      if (is_usable(sum)) {
        put_row(y, p, row, nullptr, sum, unwalked(p, sum.dot));
        continue;
      }
      weights.resize(static_cast<size_t>(p.matrix.cols));
      p.matrix.decode_row(row, weights.data());
      put_few_rows(y, p, row, 1, weights.data());
    }
  });
}

}  // namespace

Bounded project(const Matrix& w, const Bounded& x, Dialect::Activation activation,
                const Reduction& order, const Contract& contract) {
  const FloatModel model(contract);
  const bool is_q4 = w.tiles != nullptr;
  const int bits = projection_bits(contract, is_q4);
  const Activations seen = activations_of(x, activation, bits, model);
  const bool q8 = activation == Dialect::Activation::q8_0;
  const Projection projection{w, seen, projection_order(contract, order, is_q4), model, q8};
  Bounded y = bounded_of(static_cast<size_t>(w.rows));
  if (is_summed_elsewhere(projection)) {
    put_summed_rows(y, projection);
  } else if (w.tiles != nullptr) {
    put_tile_rows(y, projection);
  } else {
    put_rows(y, projection, 0, w.rows, w.f32);
  }
  return y;
}

}  // namespace gdn
