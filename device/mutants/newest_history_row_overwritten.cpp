// Bug: the history does not shift: the input replaces its newest row.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void conv(const float* x, const float* w, int64_t channels, int64_t taps, float* hist, float* y) {
  const int64_t older = taps > 1 ? (taps - 2) * channels : 0;
  const std::vector<float> before(hist, hist + older);
  twin::conv(x, w, channels, taps, hist, y);
  for (int64_t i = 0; i < older; ++i) hist[i] = before[i];
}

const MutantRegistrar self{
    {.name = "newest_history_row_overwritten",
     .bug = "the history is not shifted, its newest row is overwritten",
     .op = "conv",
     .api = &twin_with<&twin::TwinOperators::conv, conv>("newest_history_row_overwritten")}};

}  // namespace
}  // namespace gdn::mutants
