// Bug: the last block of a row is read from the row beside it.
#include <algorithm>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void project_q4(const uint8_t* tiles, int64_t rows, int64_t cols, const float* x, float* y) {
  std::vector<float> w(static_cast<size_t>(rows * cols));
  twin::dequant(tiles, rows, cols, w.data());
  for (int64_t r = 0; r < rows; r += 2) {
    const auto last = w.begin() + (r + 1) * cols - 32;
    std::swap_ranges(last, last + 32, last + cols);
  }
  twin::project_f32(w.data(), rows, cols, x, y);
}

const MutantRegistrar self{
    {.name = "row_reads_neighbour",
     .bug = "the last block of a row is its neighbour's",
     .op = "in_proj",
     .api = &twin_with<&twin::TwinOperators::project_q4, project_q4>("row_reads_neighbour")}};

}  // namespace
}  // namespace gdn::mutants
