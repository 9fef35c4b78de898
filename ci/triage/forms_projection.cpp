// Faults of the projections, y = W x: columns, blocks and rows that are lost, counted twice or
// another's, and sums that are rounded in one direction.
#include <algorithm>
#include <cmath>

#include "ci/triage/ball.h"
#include "ci/triage/directed_sum.h"
#include "ci/triage/q4_parts.h"
#include "ci/triage/right_of.h"
#include "reference/formats.h"

namespace gdn {
namespace {

constexpr size_t block = q4_block_weights;

using Expect = std::function<std::optional<FaultyArrays>(const Evidence&, const OperatorRun&)>;

// A form of both projections.
void add(std::vector<RegisteredForm>& forms, const std::string& name, const std::string& sentence,
         const Expect& expect, double choices = 1, std::vector<std::string> explains = {}) {
  for (const Operator op : {Operator::in_proj, Operator::out_proj}) {
    forms.emplace_back(FaultForm{name, sentence, op, expect, explains, choices});
  }
}

// Another x.
Expect with_x(std::function<bool(std::vector<float>& x)> change) {
  return [change = std::move(change)](const Evidence& at,
                                      const OperatorRun& run) -> std::optional<FaultyArrays> {
    Evidence other = at;
    if (!change(other.fed.at("x"))) return std::nullopt;
    return right_of(other, run);
  };
}

// Other weights, as float32 rows.
using Weights = std::vector<float>;
Expect with_weights(std::function<bool(Weights& w, int64_t rows, int64_t cols)> change) {
  return [change = std::move(change)](const Evidence& at,
                                      const OperatorRun& run) -> std::optional<FaultyArrays> {
    const Matrix& m = run.weights;
    Weights w(static_cast<size_t>(m.rows * m.cols));
    for (int64_t row = 0; row < m.rows; ++row) m.decode_row(row, w.data() + row * m.cols);
    if (!change(w, m.rows, m.cols)) return std::nullopt;
    OperatorRun other = without_tokens(run);
    other.weights = {.rows = m.rows, .cols = m.cols, .f32 = w.data(), .tiles = nullptr};
    return right_of(at, other);
  };
}

Expect columns_dropped(size_t from_end) {
  return with_x([from_end](std::vector<float>& x) {
    if (x.size() <= from_end) return false;
    std::fill(x.end() - static_cast<int64_t>(from_end), x.end(), 0.0F);
    return true;
  });
}

// y and once more what `kept` columns give: two sums, and one that adds them.
Expect counted_twice(bool first) {
  return [first](const Evidence& at, const OperatorRun& run) -> std::optional<FaultyArrays> {
    Evidence part = at;
    std::vector<float>& x = part.fed.at("x");
    if (x.size() < block) return std::nullopt;
    const auto edge = x.begin() + static_cast<int64_t>(block);
    const auto tail = x.end() - static_cast<int64_t>(block);
    first ? std::fill(edge, x.end(), 0.0F) : std::fill(x.begin(), tail, 0.0F);
    const std::vector<Ball> once = balls_of(right_of(at, run).at("y"));
    const std::vector<Ball> again = balls_of(right_of(part, run).at("y"));
    std::vector<Ball> y;
    for (size_t i = 0; i < once.size(); ++i) y.push_back(once[i] + again[i]);
    return FaultyArrays{{"y", bounded_from(y)}};
  };
}

bool neighbours_last_block(Weights& w, int64_t rows, int64_t cols) {
  if (cols < static_cast<int64_t>(block) || rows % 2 != 0) return false;
  for (int64_t row = 0; row < rows; row += 2) {
    const auto last = w.begin() + (row + 1) * cols - static_cast<int64_t>(block);
    std::swap_ranges(last, last + static_cast<int64_t>(block), last + cols);
  }
  return true;
}

bool rows_in_pairs(Weights& w, int64_t rows, int64_t cols) {
  for (int64_t row = 0; row + 1 < rows; row += 2) {
    const auto first = w.begin() + row * cols;
    std::swap_ranges(first, first + cols, first + cols);
  }
  return rows > 1;
}

bool transposed(Weights& w, int64_t rows, int64_t cols) {
  const Weights was = w;
  for (int64_t i = 0; i < rows * cols; ++i) {
    w[static_cast<size_t>(i)] = was[static_cast<size_t>(i % cols * rows + i / cols)];
  }
  return rows > 1 && cols > 1;
}

Expect rounded_weights(Format format) {
  return with_weights([format](Weights& w, int64_t, int64_t) {
    for (float& x : w) x = static_cast<float>(round_to(format, x));
    return true;
  });
}

Expect rounded_x(Format format) {
  return with_x([format](std::vector<float>& x) {
    for (float& one : x) one = static_cast<float>(round_to(format, one));
    return true;
  });
}

// The offset of 8 taken out of the sum with |x| in place of x: 8 d (|x| - x) too much is
// subtracted, block by block.
std::optional<FaultyArrays> offset_with_magnitudes(const Evidence& at, const OperatorRun& run) {
  if (run.weights.tiles == nullptr) return std::nullopt;
  Q4Matrix m = q4_parts(run.weights);
  const std::vector<Ball> right = balls_of(right_of(at, run).at("y"));
  const std::vector<float>& x = at.fed.at("x");
  std::vector<Ball> y;
  for (int64_t row = 0; row < m.rows; ++row) {
    std::vector<Ball> terms{right[static_cast<size_t>(row)]};
    for (int64_t b = 0; b < m.blocks_a_row; ++b) {
      std::vector<Ball> excess;
      for (size_t j = 0; j < block; ++j) {
        const double one = x[static_cast<size_t>(b) * block + j];
        excess.push_back(exact_ball(std::abs(one) - one));
      }
      terms.push_back(exact_ball(-8 * m.at(row, b).scale) * sum_of(excess));
    }
    y.push_back(sum_of(terms));
  }
  return FaultyArrays{{"y", bounded_from(y)}};
}

std::optional<FaultyArrays> directed(const Evidence& at, const OperatorRun& run,
                                     Direction direction) {
  const std::optional<std::vector<float>> y =
      directed_product(run.weights, at.fed.at("x"), run, direction);
  if (!y) return std::nullopt;
  return FaultyArrays{{"y", exactly(*y)}};
}

std::vector<RegisteredForm> all_forms() {
  std::vector<RegisteredForm> forms;
  add(forms, "last_block_dropped", "the last 32 columns are left out", columns_dropped(block));
  add(forms, "four_left_blocks_dropped",
      "the last four blocks of a row are left out where a multiple of eight comes before",
      with_x([](std::vector<float>& x) {
        if (x.size() / block % 8 != 4) return false;
        std::fill(x.end() - static_cast<int64_t>(4 * block), x.end(), 0.0F);
        return true;
      }));
  constexpr size_t tails[] = {4, 8, 16, 64, 128, 256};
  for (const size_t wide : tails) {
    add(forms, "columns_beyond_a_multiple_of_" + std::to_string(wide) + "_dropped",
        "columns beyond the last multiple of " + std::to_string(wide) + " are left out",
        with_x([wide](std::vector<float>& x) {
          const size_t whole = x.size() / wide * wide;
          std::fill(x.begin() + static_cast<int64_t>(whole), x.end(), 0.0F);
          return whole < x.size();
        }),
        std::size(tails));
  }
  add(forms, "first_block_counted_twice", "the first 32 columns are added twice",
      counted_twice(true));
  add(forms, "last_block_counted_twice", "the last 32 columns are added twice",
      counted_twice(false));
  add(forms, "last_column_left_out", "the last column is left out", columns_dropped(1));
  add(forms, "row_reads_neighbour", "the last block of a row is its neighbour's",
      with_weights(neighbours_last_block));
  add(forms, "rows_swapped_in_pairs", "rows change places in pairs", with_weights(rows_in_pairs));
  add(forms, "weights_transposed", "the weights are read as [cols][rows]",
      with_weights(transposed));
  add(forms, "offset_of_8_folded_with_magnitudes",
      "the offset of 4-bit codes is subtracted with the magnitudes of x", offset_with_magnitudes);
  for (const Format format : {Format::bf16, Format::f16}) {
    const std::string as = format == Format::bf16 ? "bf16" : "f16";
    add(forms, "weights_rounded_to_" + as, "the weights are rounded to " + as,
        rounded_weights(format), 1, {"decoded_weights_rounded_to_" + as});
    add(forms, "activations_rounded_to_" + as, "the input is rounded to " + as, rounded_x(format));
  }
  const auto towards = [](Direction direction) {
    return [direction](const Evidence& at, const OperatorRun& run) {
      return directed(at, run, direction);
    };
  };
  add(forms, "sums_rounded_downward", "every operation rounds towards minus infinity",
      towards(Direction::down));
  add(forms, "sums_rounded_upward", "every operation rounds towards plus infinity",
      towards(Direction::up));
  add(forms, "sums_rounded_toward_zero", "every operation rounds towards zero",
      towards(Direction::zero));
  add(forms, "sums_carried_in_bf16", "sums are kept in bf16", towards(Direction::nearest_bf16));
  add(forms, "sums_in_22_bits", "sums are kept in two bits less than float32 has",
      towards(Direction::nearest_of_22_bits));
  return forms;
}
const std::vector<RegisteredForm> self = all_forms();

}  // namespace
}  // namespace gdn
