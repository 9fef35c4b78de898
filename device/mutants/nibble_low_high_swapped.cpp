// Bug: the decoder takes column j from the high nibble and column j + 16 from the low one.
#include <algorithm>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void dequant(const uint8_t* tiles, int64_t rows, int64_t cols, float* out) {
  twin::dequant(tiles, rows, cols, out);
  for (float* block = out; block < out + rows * cols; block += 32) {
    std::swap_ranges(block, block + 16, block + 16);
  }
}

const MutantRegistrar self{
    {.name = "nibble_low_high_swapped",
     .bug = "low and high nibbles of a 4-bit block are swapped when decoded",
     .op = "dequant",
     .api = &twin_with<&twin::TwinOperators::dequant, dequant>("nibble_low_high_swapped")}};

}  // namespace
}  // namespace gdn::mutants
