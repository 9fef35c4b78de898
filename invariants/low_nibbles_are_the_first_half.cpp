// Claim:   a row of weights -8 to 7 and then 7 to -8, times the scale of its block, gives each of
//          them back to the input that is its column alone.
// Why:     byte j holds column j in its low and column j + 16 in its high nibble, offset by 8 or in
//          two's complement, never a mixture.
// Bound:   the reference's, around one product of whole numbers.
// Origin:  nibbles taken for neighbours, halves swapped, rows of a tile swapped.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) {
  const bool projects = c.subject == Subject::in_proj || c.subject == Subject::out_proj;
  return projects && c.calls.empty();
}

// Row r of the tile is the ramp times its own scale, so that rows cannot be taken for each other.
// The first is the smallest subnormal of f16.
constexpr float scales[] = {0x1p-24F, 1, 8, 4096};

Verdict check(const Case& c, const Lab& lab) {
  constexpr int64_t rows = 4;
  constexpr int64_t cols = 32;
  std::vector<float> weight;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = 0; j < cols; ++j) {
      const int64_t ramp = j < 16 ? j - 8 : 23 - j;
      weight.push_back(static_cast<float>(ramp) * scales[r]);
    }
  }
  Verdict all = claim(true, "");
  for (const int64_t column :
       {int64_t{0}, int64_t{15}, int64_t{16}, int64_t{31}, Rng{c.seed}.stream("x").range(1, 30)}) {
    // 127 is a whole number to q8_0 too.
    std::vector<float> x(cols, 0.0F);
    x[static_cast<size_t>(column)] = 127;
    Case projection = worked_case(c, c.subject, c.shape, {{"x", x}, {"weight", weight}});
    projection.weights = Weights::q4;
    const Worked worked = work(lab, projection);
    if (!worked.served.holds()) return worked.served;
    std::vector<double> y;
    for (int64_t r = 0; r < rows; ++r) {
      y.push_back(127.0 * weight[static_cast<size_t>(r * cols + column)]);
    }
    all = both(std::move(all), worked.is("y", y));
  }
  return all;
}

const Registered self{
    {.claim = "a 4-bit block holds its first half in the low nibbles",
     .applies = applies,
     .check = check,
     .kills = {"f16_read_as_bf16", "f16_subnormal_flushed", "f16_subnormal_halved",
               "nibbles_interleaved", "nibbles_offset_twice", "tile_rows_swapped"}}};

}  // namespace
}  // namespace gdn
