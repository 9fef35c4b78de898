// Bug: a block is divided by its own size, which is 0 / 0 where all its weights are 0.
#include <algorithm>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void dequant(const uint8_t* tiles, int64_t rows, int64_t cols, float* out) {
  twin::dequant(tiles, rows, cols, out);
  for (float* block = out; block < out + rows * cols; block += 32) {
    const bool all_zero = std::all_of(block, block + 32, [](float w) { return w == 0; });
    if (all_zero) std::fill_n(block, 32, block[0] / 0.0F);
  }
}

const MutantRegistrar self{{.name = "zero_block_gives_nan",
                            .bug = "a block of zeros decodes to NaN",
                            .op = "dequant",
                            .api = &twin_decoding_with<dequant>("zero_block_gives_nan")}};

}  // namespace
}  // namespace gdn::mutants
