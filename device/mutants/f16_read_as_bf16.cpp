// Bug: the scale of a block is taken for the upper half of a float32.
#include <bit>

#include "device/mutants/mutant.h"
#include "device/twin/formats.h"

namespace gdn::mutants {
namespace {

void dequant(const uint8_t* tiles, int64_t rows, int64_t cols, float* out) {
  constexpr uint8_t one[2] = {0x00, 0x3C};
  const int64_t tile_count = rows / 4 * (cols / 32);
  std::vector<uint8_t> unscaled(tiles, tiles + tile_count * twin::tile_bytes);
  for (int64_t t = 0; t < tile_count; ++t) {
    for (int64_t m = 0; m < twin::tile_rows; ++m) {
      std::memcpy(&unscaled[static_cast<size_t>(t * twin::tile_bytes + 2 * m)], one, sizeof one);
    }
  }
  twin::dequant(unscaled.data(), rows, cols, out);
  for (int64_t i = 0; i < rows * cols; ++i) {
    const int64_t row = i / cols;
    const int64_t tile = row / 4 * (cols / 32) + i % cols / 32;
    uint16_t scale = 0;
    std::memcpy(&scale, tiles + tile * twin::tile_bytes + 2 * (row % 4), sizeof scale);
    out[i] *= std::bit_cast<float>(uint32_t{scale} << 16);
  }
}

const MutantRegistrar self{{.name = "f16_read_as_bf16",
                            .bug = "f16 scales of 4-bit blocks are read as bf16",
                            .op = "dequant",
                            .api = &twin_decoding_with<dequant>("f16_read_as_bf16")}};

}  // namespace
}  // namespace gdn::mutants
