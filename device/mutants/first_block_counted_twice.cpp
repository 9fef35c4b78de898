// Bug: where the blocks of a row are no multiple of 4, the tail starts at the first again.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void project_q4(const uint8_t* tiles, int64_t rows, int64_t cols, const float* x, float* y) {
  std::vector<float> w(static_cast<size_t>(rows * cols));
  twin::dequant(tiles, rows, cols, w.data());
  const bool has_tail = cols / 32 % 4 != 0;
  for (int64_t i = 0; has_tail && i < rows * 32; ++i)
    w[static_cast<size_t>(i / 32 * cols + i % 32)] *= 2;
  twin::project_f32(w.data(), rows, cols, x, y);
}

const MutantRegistrar self{
    {.name = "first_block_counted_twice",
     .bug = "the first block of a row is added twice where the row has a tail",
     .op = "in_proj",
     .api = &twin_with<&twin::TwinOperators::project_q4, project_q4>("first_block_counted_twice")}};

}  // namespace
}  // namespace gdn::mutants
