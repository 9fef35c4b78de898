// A float32 product is exact in double, and so is a sum but for its last bits, which the two-sum
// gives: rounding in a direction is one step of the neighbour at most.
#ifdef __FAST_MATH__
#error "rounding in a direction needs IEEE arithmetic: build without fast math"
#endif

#include "ci/triage/directed_sum.h"

#include <bit>
#include <cmath>

#include "reference/formats.h"

namespace gdn {
namespace {

// The exact number is value + rest, |rest| below the last bit of value.
float rounded(double value, double rest, Direction direction) {
  const float nearest = static_cast<float>(value);
  if (!std::isfinite(nearest) || direction >= Direction::nearest_of_22_bits) return nearest;
  const double off = value - static_cast<double>(nearest) + rest;  // exact minus nearest
  if (off == 0) return nearest;
  const bool is_positive = value > 0 || (value == 0 && rest > 0);
  const bool down = direction == Direction::down || (direction == Direction::zero && is_positive);
  if (down) return off < 0 ? std::nextafter(nearest, -HUGE_VALF) : nearest;
  return off > 0 ? std::nextafter(nearest, HUGE_VALF) : nearest;
}

float product(float a, float b, Direction direction) {
  return rounded(static_cast<double>(a) * b, 0, direction);
}

float sum(float a, float b, Direction direction) {
  const double x = a, y = b, s = x + y, from_y = s - x;
  return rounded(s, (x - (s - from_y)) + (y - from_y), direction);
}

// Ties to even; the last two bits of 24 go.
float in_22_bits(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  if (!std::isfinite(x)) return x;
  return std::bit_cast<float>((bits + 1 + (bits >> 2) % 2) / 4 * 4);
}

bool is_serial(const Reduction& order) {
  return order.kind == Reduction::Kind::order && order.stages.size() == 1 &&
         order.stages[0].kind == Reduction::Stage::Kind::serial && !order.stages[0].fused;
}

}  // namespace

std::optional<std::vector<float>> directed_product(const Matrix& w, const std::vector<float>& x,
                                                   const OperatorRun& run, Direction direction) {
  const bool in = run.op == Operator::in_proj;
  const Reduction& order = in ? run.contract.in_proj : run.contract.out_proj;
  if (!is_serial(order) || run.dialect.activation != Dialect::Activation::f32) return std::nullopt;
  std::vector<float> row(x.size()), y;
  for (int64_t r = 0; r < w.rows; ++r) {
    w.decode_row(r, row.data());
    float total = 0;
    for (size_t c = 0; c < row.size(); ++c) {
      total = sum(total, product(row[c], x[c], direction), direction);
      if (direction == Direction::nearest_of_22_bits) total = in_22_bits(total);
      if (direction == Direction::nearest_bf16) total = bf16_decode(bf16_encode(total));
    }
    y.push_back(total);
  }
  return y;
}

}  // namespace gdn
