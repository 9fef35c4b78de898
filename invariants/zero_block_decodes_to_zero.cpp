// Claim:   a block of zeros decodes to zeros: codes of 8 under any finite scale, any code under a
//          scale of 0.
// Why:     weight = d (code - 8); nothing is divided.
// Bound:   none: 0, of either sign.
// Origin:  0 / 0 in a decoder that takes the block's own size out, or in the product after it.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::dequant && c.calls.empty(); }

// As f16: 0, -0, the smallest subnormal, 1, and the largest number.
constexpr uint16_t scales[] = {0x0000, 0x8000, 0x0001, 0x3C00, 0x7BFF};

Verdict check(const Case& c, const Lab& lab) {
  Rng rng = Rng{c.seed}.stream("codes");
  const int64_t cols = std::min<int64_t>(c.cols, 1024);
  const int64_t rows = std::min<int64_t>(c.rows, 64);
  std::vector<uint8_t> blocks;
  for (int64_t i = 0; i < rows * cols / q4_block_weights; ++i) {
    const uint16_t scale = scales[rng.range(0, 4)];
    const bool any_code = (scale & 0x7FFF) == 0;
    blocks.push_back(static_cast<uint8_t>(scale & 0xFF));
    blocks.push_back(static_cast<uint8_t>(scale >> 8));
    for (int64_t j = 0; j < 16; ++j) {
      blocks.push_back(any_code ? static_cast<uint8_t>(rng.range(0, 255)) : uint8_t{0x88});
    }
  }
  std::vector<float> got;
  const Verdict served = lab.dequant(rows, cols, q4_tile_pack(blocks, rows, cols), got);
  if (!served.holds()) return served;
  Bounded zeros;
  zeros.value.assign(static_cast<size_t>(rows * cols), 0.0);
  return both(served, within("weights of zero", got, zeros));
}

const Registered self{{.claim = "a 4-bit block of zeros decodes to zeros",
                       .applies = applies,
                       .check = check,
                       .kills = {"zero_block_gives_nan"}}};

}  // namespace
}  // namespace gdn
