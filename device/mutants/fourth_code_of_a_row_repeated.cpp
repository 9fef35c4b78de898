// Bug: the fourth byte of each group is read from the third.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void project(const uint8_t* tiles, int64_t rows, int64_t cols, const float* x, float* y) {
  const int64_t tile_count = rows / twin::tile_rows * (cols / twin::tile_cols);
  std::vector<uint8_t> repeated(tiles, tiles + tile_count * twin::tile_bytes);
  for (auto tile = repeated.begin(); tile != repeated.end(); tile += twin::tile_bytes) {
    for (int64_t j = 8 + 3; j < twin::tile_bytes; j += 4) tile[j] = tile[j - 1];
  }
  twin::project_q4(repeated.data(), rows, cols, x, y);
}

const MutantRegistrar self{{.name = "fourth_code_of_a_row_repeated",
                            .bug = "the fourth byte of each group of a tile repeats the third",
                            .op = "in_proj",
                            .api = &twin_with<&twin::TwinOperators::project_q4, project>(
                                "fourth_code_of_a_row_repeated")}};

}  // namespace
}  // namespace gdn::mutants
