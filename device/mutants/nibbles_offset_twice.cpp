// Bug: nibbles of a tile, two's complement already, are taken for codes from which 8 is to be
// subtracted.
#include "device/mutants/mutant.h"
#include "device/twin/formats.h"

namespace gdn::mutants {
namespace {

void dequant(const uint8_t* tiles, int64_t rows, int64_t cols, float* out) {
  std::vector<uint8_t> other(tiles, tiles + rows / 4 * (cols / 32) * twin::tile_bytes);
  for (size_t i = 0; i < other.size(); ++i) {
    const bool is_scale = i % twin::tile_bytes < 8;
    if (!is_scale) other[i] ^= 0x88;
  }
  twin::dequant(other.data(), rows, cols, out);
}

const MutantRegistrar self{
    {.name = "nibbles_offset_twice",
     .bug = "8 is subtracted from the nibbles of a tile, which are two's complement",
     .op = "dequant",
     .api = &twin_decoding_with<dequant>("nibbles_offset_twice")}};

}  // namespace
}  // namespace gdn::mutants
