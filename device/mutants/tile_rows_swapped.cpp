// Bug: the second and the third row of a tile change places.
#include <algorithm>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void dequant(const uint8_t* tiles, int64_t rows, int64_t cols, float* out) {
  twin::dequant(tiles, rows, cols, out);
  for (float* second = out + cols; second < out + rows * cols; second += 4 * cols) {
    std::swap_ranges(second, second + cols, second + cols);
  }
}

const MutantRegistrar self{{.name = "tile_rows_swapped",
                            .bug = "rows 1 and 2 of each tile are swapped when decoded",
                            .op = "dequant",
                            .api = &twin_decoding_with<dequant>("tile_rows_swapped")}};

}  // namespace
}  // namespace gdn::mutants
