// Claim:   4-bit weights decode to exactly d times the code, for every scale and every code.
// Why:     11 bits of scale times 4 bits of code fit float32, subnormal scales included.
// Bound:   none: equal bits; where IEEE gives NaN, any NaN.
// Origin:  subnormal scales flushed, f16 read as bf16, nibbles or rows of a tile swapped.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

constexpr int64_t scale_count = 65536;

bool applies(const Case& c) { return c.subject == Subject::dequant && c.calls.empty(); }

// Blocks of rising scale, as many as the tile matrix has, from `first` on; each block holds every
// code twice, turned by `turn`, so that over the turns each code meets each place.
std::vector<uint8_t> blocks_of(int64_t first, int64_t count, int64_t turn) {
  std::vector<uint8_t> blocks;
  blocks.reserve(static_cast<size_t>(count * q4_block_bytes));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t scale = (first + i) % scale_count;
    blocks.push_back(static_cast<uint8_t>(scale & 0xFF));
    blocks.push_back(static_cast<uint8_t>(scale >> 8));
    for (int64_t j = 0; j < 16; ++j) {
      const int64_t low = (j + turn) % 16;
      const int64_t high = (5 * j + turn) % 16;  // 5 is odd: another order of the same codes
      blocks.push_back(static_cast<uint8_t>(low | (high << 4)));
    }
  }
  return blocks;
}

// Right by the definition: d (code - 8), each a float32, their product exact or by IEEE's rules.
std::vector<float> decoded(const std::vector<uint8_t>& blocks) {
  std::vector<float> weights(blocks.size() / q4_block_bytes * q4_block_weights);
  for (size_t i = 0; i * q4_block_bytes < blocks.size(); ++i) {
    q4_0_decode_block(blocks.data() + i * q4_block_bytes, weights.data() + i * q4_block_weights);
  }
  return weights;
}

// In matrices of the case's own shape until all scales have passed; a matrix smaller than that is
// asked as tall as it takes, so that the number of calls stays small.
Verdict check(const Case& c, const Lab& lab) {
  const int64_t blocks_per_row = c.cols / q4_block_weights;
  const int64_t rows_of_all = (scale_count + blocks_per_row - 1) / blocks_per_row;
  const int64_t tall = (rows_of_all + 15) / 16;
  const int64_t rows = std::max(c.rows, (tall + q4_tile_rows - 1) / q4_tile_rows * q4_tile_rows);
  const int64_t per_call = rows * blocks_per_row;
  const int64_t turn = Rng{c.seed}.range(0, 15);
  Verdict all = claim(true, "");
  for (int64_t first = 0; first < scale_count; first += per_call) {
    const std::vector<uint8_t> blocks = blocks_of(first, per_call, turn);
    const std::vector<uint8_t> tiles = q4_tile_pack(blocks, rows, c.cols);
    std::vector<float> got;
    all = both(std::move(all), lab.dequant(rows, c.cols, tiles, got));
    if (got.empty()) return all;
    all = both(std::move(all),
               same_bits("scales from " + std::to_string(first), got, decoded(blocks)));
  }
  const Observation seen = lab.run(c);
  all = both(std::move(all), seen.served());
  if (!seen.served().holds()) return all;
  const Bounded& want = lab.expect(c).calls.front().arrays.at("out");
  return both(std::move(all), within("out", seen.calls.front().arrays.at("out"), want));
}

const Registered self{
    {.claim = "4-bit weights decode exactly, for every scale and code",
     .applies = applies,
     .check = check,
     .kills = {"f16_read_as_bf16", "f16_subnormal_flushed", "nibble_low_high_swapped",
               "nibbles_interleaved", "tile_rows_swapped", "zero_block_gives_nan"}}};

}  // namespace
}  // namespace gdn
