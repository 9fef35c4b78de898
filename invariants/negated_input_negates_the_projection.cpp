// Claim:   -x gives -y, bit for bit, and x times 2^n gives y times 2^n.
// Why:     y = W x is linear; rounding to nearest is symmetric about zero and commutes with a power
//          of two as long as nothing leaves the normal numbers, in any order of additions. q8_0
//          rounds half away from zero, so that it is symmetric too.
// Bound:   none: equal bits, the sign of a zero aside; of 2^n where the extents leave room.
// Origin:  rounding in one direction, a bias, a fold of the 4-bit offset that takes |x|.
#include <algorithm>
#include <cstring>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

constexpr int64_t power_max = 20;

bool applies(const Case& c) {
  return c.subject == Subject::in_proj || c.subject == Subject::out_proj;
}

// All that a row multiplies: weights, or the scales of 4-bit blocks, whose codes (and their offset
// of 8, if an engine folds it) are whole numbers of at most 4 bits.
Extent extent_of_weights(const Numbers& numbers) {
  if (numbers.tiles.empty()) return extent_of(numbers.arrays.at("weight"));
  std::vector<float> scales;
  for (size_t at = 0; at < numbers.tiles.size(); at += q4_tile_bytes) {
    for (size_t row = 0; row < static_cast<size_t>(q4_tile_rows); ++row) {
      uint16_t bits = 0;
      std::memcpy(&bits, numbers.tiles.data() + at + 2 * row, sizeof bits);
      scales.push_back(f16_decode(bits));
    }
  }
  Extent extent = extent_of(scales);
  extent.highest += 4;
  return extent;
}

std::vector<float> negated(std::vector<float> numbers) {
  for (float& x : numbers) x = -x;
  return numbers;
}

Verdict check(const Case& given, const Lab& lab) {
  const Case c = given.with_calls({});
  std::string why;
  const std::optional<Numbers> numbers = materialise(c, &why);
  if (!numbers) return not_applicable(why);
  // Fixed point of its own may have a code more on one side.
  if (projection_bits(lab.contract(), !numbers->tiles.empty()) != 0) {
    return not_applicable("activations are fixed point");
  }
  const std::vector<float>& x = numbers->arrays.at("x");
  const Observation one = lab.run(c);
  const Observation minus = lab.run(c.with_numbers("x", negated(x)));
  Verdict all = both(one.served(), minus.served());
  if (!all.holds()) return all;
  const std::vector<float>& y = one.calls.front().arrays.at("y");
  all = both(std::move(all), same_bits("y of -x, against -y",
                                       without_zero_signs(minus.calls.front().arrays.at("y")),
                                       without_zero_signs(negated(y))));
  const int power = static_cast<int>(Rng{c.seed}.stream("power").range(1, power_max));
  const Extent sums = sum_of(product(extent_of(x), extent_of_weights(*numbers)), c.cols);
  const bool has_room = c.dialect.activation == Dialect::Activation::f32 &&
                        scales(extent_of(x), power) && scales(sums, power);
  if (!has_room) return all;
  const Observation more = lab.run(c.with_numbers("x", times_power(x, power)));
  if (!more.served().holds()) return more.served();
  return both(std::move(all), same_bits("y of x times 2^" + std::to_string(power),
                                        more.calls.front().arrays.at("y"), times_power(y, power)));
}

const Registered self{{.claim = "a projection of -x is minus that of x, and scales with x",
                       .applies = applies,
                       .check = check,
                       .kills = {"bias_in_the_projection", "offset_of_8_folded_with_magnitudes",
                                 "sums_rounded_downward"}}};

}  // namespace
}  // namespace gdn
