// Claim:   a weight that stands alone in its row is multiplied with its own input, once, wherever
//          its block of 32 columns lies.
// Why:     y = W x over whole rows; a row may have any number of blocks.
// Bound:   the reference's, around one exact product: x is whole numbers that q8_0 keeps.
// Origin:  a tail dropped or counted twice, a row that reads into its neighbour.
#include <cmath>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

constexpr int64_t block_counts[] = {1, 2, 3, 5, 7, 8, 9, 16, 17, 33, 36, 65};
constexpr int64_t count_of_block_counts = sizeof(block_counts) / sizeof(block_counts[0]);

bool applies(const Case& c) {
  const bool projects = c.subject == Subject::in_proj || c.subject == Subject::out_proj;
  return projects && c.calls.empty();
}

// Row r holds one -8, in the first, the last, the middle and a drawn block, then the same from the
// other end: a 4-bit block of scale 1 keeps it. The others of its row are 0.
Verdict one_weight_a_row(const Case& c, const Lab& lab, Weights weights, int64_t blocks) {
  constexpr int64_t rows = 8;
  const int64_t cols = blocks * 32;
  Rng rng = Rng{c.seed}.stream("places");
  const int64_t drawn = rng.range(0, blocks - 1);
  const int64_t places[rows] = {0,     blocks - 1,       blocks / 2, drawn,
                                drawn, (blocks - 1) / 2, blocks - 1, 0};
  Arrays in;
  // 127 down to 96 in each block, so that its q8_0 scale is a power of two; no two blocks of nine
  // in a row are alike.
  for (int64_t i = 0; i < cols; ++i) {
    in["x"].push_back(std::ldexp(static_cast<float>(127 - i % 32), static_cast<int>(i / 32 % 9)));
  }
  in["weight"].assign(static_cast<size_t>(rows * cols), 0.0F);
  std::vector<double> y;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t column = places[r] * 32 + rng.range(0, 31);
    in["weight"][static_cast<size_t>(r * cols + column)] = -8;
    y.push_back(-8.0 * in["x"][static_cast<size_t>(column)]);
  }
  Case projection = worked_case(c, c.subject, c.shape, in);
  projection.weights = weights;
  const Worked worked = work(lab, projection);
  return worked.served.holds() ? worked.is("y", y) : worked.served;
}

Verdict check(const Case& c, const Lab& lab) {
  const int64_t turn = Rng{c.seed}.stream("turn").range(0, count_of_block_counts - 1);
  Verdict all = claim(true, "");
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t blocks = block_counts[(turn + i * 5) % count_of_block_counts];
    for (const Weights weights : {Weights::q4, Weights::f32}) {
      all = both(std::move(all), one_weight_a_row(c, lab, weights, blocks));
      if (!all.holds()) return all;
    }
  }
  return all;
}

const Registered self{
    {.claim = "every block of a row is added to its sum once",
     .applies = applies,
     .check = check,
     .kills = {"last_block_dropped", "first_block_counted_twice", "row_reads_neighbour"},
     .one_in = 4}};

}  // namespace
}  // namespace gdn
