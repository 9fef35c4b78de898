// Bug: the two codes of a byte are taken for neighbouring columns.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void dequant(const uint8_t* tiles, int64_t rows, int64_t cols, float* out) {
  twin::dequant(tiles, rows, cols, out);
  for (float* block = out; block < out + rows * cols; block += 32) {
    const std::vector<float> halves(block, block + 32);
    for (size_t j = 0; j < 32; ++j) block[j] = halves[j / 2 + j % 2 * 16];
  }
}

const MutantRegistrar self{
    {.name = "nibbles_interleaved",
     .bug = "byte j holds columns 2j and 2j + 1 when a 4-bit block is decoded",
     .op = "dequant",
     .api = &twin_decoding_with<dequant>("nibbles_interleaved")}};

}  // namespace
}  // namespace gdn::mutants
