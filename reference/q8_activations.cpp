// q8_0 rounding over intervals. Every step, d = amax / 127, id = 1 / d, q = round(x id), q f16(d),
// rounds monotonically, so that the ends of an interval bound what its members give. |q| <= 127,
// since |x| <= amax and 127 (1 + u)^3 < 127.5.
#ifdef __FAST_MATH__
#error "q8_0 rounding needs IEEE arithmetic: build without fast math"
#endif

#include "reference/q8_activations.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "reference/formats.h"
#include "reference/special.h"

namespace gdn {
namespace {

constexpr size_t block_size = static_cast<size_t>(q8_block_values);
constexpr float code_max = 127;

// The float32 numbers in [x - bound, x + bound] lie in [low, high].
struct Interval {
  float low, high;
};

Interval around(double x, double bound) {
  const auto nearest_low = static_cast<float>(x - bound);
  const auto nearest_high = static_cast<float>(x + bound);
  return {bound == 0 ? nearest_low : std::nextafter(nearest_low, -HUGE_VALF),
          bound == 0 ? nearest_high : std::nextafter(nearest_high, HUGE_VALF)};
}

Interval product_of(Interval a, Interval b) {
  const auto [low, high] =
      std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  return {low, high};
}

struct BlockScale {
  Interval inverse;  // id
  Interval stored;   // f16(d)
  bool inverse_known = true;
};

BlockScale scale_of(const std::vector<Interval>& x) {
  Interval largest{0, 0};
  for (const Interval& one : x) {
    const float least = one.low > 0 ? one.low : std::max(-one.high, 0.0F);
    largest.low = std::max(largest.low, least);
    largest.high = std::max({largest.high, one.high, -one.low});
  }
  const Interval d{largest.low / code_max, largest.high / code_max};
  const float inverse_high = 1 / d.low;
  BlockScale scale;
  scale.inverse = {1 / d.high, inverse_high};
  // Where 1 / d overflows it is taken as 0, out of order.
  scale.inverse_known = std::isfinite(inverse_high);
  scale.stored = {f16_decode(f16_encode(d.low)), f16_decode(f16_encode(d.high))};
  return scale;
}

Interval codes_of(Interval x, const BlockScale& scale) {
  if (!scale.inverse_known) return {-code_max, code_max};
  const Interval exact = product_of(x, scale.inverse);
  return {std::clamp(std::round(exact.low), -code_max, code_max),
          std::clamp(std::round(exact.high), -code_max, code_max)};
}

void carry_block(const Bounded& x, size_t begin, const float* nominal, Bounded& result) {
  std::vector<Interval> intervals(block_size);
  for (size_t i = 0; i < block_size; ++i) {
    intervals[i] = around(x.value[begin + i], x.bound_of(begin + i));
  }
  const BlockScale scale = scale_of(intervals);
  for (size_t i = 0; i < block_size; ++i) {
    const size_t at = begin + i;
    if (!std::isfinite(scale.stored.high)) {
      const bool certain = !std::isfinite(scale.stored.low);
      put_special(result, at, {certain ? uint8_t{Classes::nan | infinite_classes} : all_classes});
      continue;
    }
    const Interval reached = product_of(codes_of(intervals[i], scale), scale.stored);
    result.value[at] = nominal[i];
    const double below = result.value[at] - reached.low;
    const double above = reached.high - result.value[at];
    result.bound[at] = std::max({below, above, 0.0}) * bound_slack;
  }
}

// Undecided, or non-finite for certain; false where the block is ordinary.
bool put_special_block(const Bounded& x, size_t begin, Bounded& result) {
  Classes seen;
  for (size_t i = begin; i < begin + block_size; ++i) {
    if (!is_ordinary(x.value[i], x.bound_of(i))) seen.bits |= classes_of(x, i).bits;
  }
  if (seen.bits == 0) return false;
  const bool infinite = seen.only(infinite_classes);
  for (size_t i = begin; i < begin + block_size; ++i) {
    put_special(result, i, {infinite ? uint8_t{Classes::nan | infinite_classes} : all_classes});
  }
  return true;
}

}  // namespace

Bounded q8_0_activations(const Bounded& x) {
  const std::vector<float> rounded(x.value.begin(), x.value.end());
  const std::vector<float> nominal = q8_0_round_trip(rounded);
  Bounded result;
  result.value.assign(x.size(), 0);
  result.bound.assign(x.size(), 0);
  for (size_t begin = 0; begin + block_size <= x.size(); begin += block_size) {
    if (put_special_block(x, begin, result)) continue;
    carry_block(x, begin, nominal.data() + begin, result);
  }
  return result;
}

}  // namespace gdn
