// Claim:   a projection with 4-bit weights gives what one with the decoded weights gives.
// Why:     the format is a way to write float32 weights; the sum is over the same numbers.
// Bound:   that of each of the two, added up.
// Origin:  a decoder inside the product that differs from the one that is tested alone.
#include <cmath>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

// An f32 twin of the case is given in full and must be small enough to be printed.
constexpr int64_t weights_max = 1 << 15;

bool applies(const Case& c) {
  const bool projects = c.subject == Subject::in_proj || c.subject == Subject::out_proj;
  return projects && c.calls.empty() && c.weights == Weights::q4 && c.rows * c.cols <= weights_max;
}

Verdict check(const Case& c, const Lab& lab) {
  std::string why;
  const std::optional<Numbers> numbers = materialise(c, &why);
  const Worked narrow = work(lab, c);
  if (!numbers || !narrow.served.holds()) return narrow.served;
  std::vector<float> decoded(static_cast<size_t>(c.rows * c.cols));
  for (int64_t row = 0; row < c.rows; ++row) {
    q4_tile_decode_row(numbers->tiles.data(), c.cols, row, decoded.data() + row * c.cols);
  }
  Case in_full = c.with_numbers("weight", decoded);
  in_full.weights = Weights::f32;
  in_full.numbers.erase("tiles");
  const Worked wide = work(lab, in_full);
  if (!wide.served.holds()) return wide.served;
  const Bounded& of_narrow = narrow.want.at("y");
  Bounded want = wide.want.at("y");
  want.tolerated.clear();
  std::vector<float> got;
  Bounded near;
  for (size_t i = 0; i < want.size(); ++i) {
    const float other = wide.got.at("y")[i];
    const double bound = of_narrow.bound_of(i) + want.bound_of(i);
    // What overflows or is NaN may be so in one order of the sum alone.
    if (!std::isfinite(bound) || !std::isfinite(other) || !std::isfinite(of_narrow.value[i])) {
      continue;
    }
    got.push_back(narrow.got.at("y")[i]);
    near.value.push_back(other);
    near.bound.push_back(bound);
  }
  return got.empty() ? narrow.within_bound("y") : within("y with 4-bit weights", got, near);
}

const Registered self{{.claim = "4-bit weights project as their decoded values do",
                       .applies = applies,
                       .check = check,
                       .kills = {"f16_subnormal_flushed", "f16_read_as_bf16", "nibbles_interleaved",
                                 "tile_rows_swapped"}}};

}  // namespace
}  // namespace gdn
