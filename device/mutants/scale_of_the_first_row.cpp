// Bug: all four rows of a tile take the scale of its first.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void project(const uint8_t* tiles, int64_t rows, int64_t cols, const float* x, float* y) {
  const int64_t tile_count = rows / twin::tile_rows * (cols / twin::tile_cols);
  std::vector<uint8_t> alike(tiles, tiles + tile_count * twin::tile_bytes);
  for (auto tile = alike.begin(); tile != alike.end(); tile += twin::tile_bytes) {
    for (int m = 1; m < twin::tile_rows; ++m) std::memcpy(&tile[2 * m], &*tile, 2);
  }
  twin::project_q4(alike.data(), rows, cols, x, y);
}

const MutantRegistrar self{
    {.name = "scale_of_the_first_row",
     .bug = "the rows of a tile share the scale of the first",
     .op = "in_proj",
     .api = &twin_with<&twin::TwinOperators::project_q4, project>("scale_of_the_first_row")}};

}  // namespace
}  // namespace gdn::mutants
