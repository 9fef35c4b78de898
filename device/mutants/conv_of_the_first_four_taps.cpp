// Bug: kernels are written for four taps: a fifth, and what is newer, is left out.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void conv(const float* x, const float* w, int64_t channels, int64_t taps, float* hist, float* y) {
  std::vector<float> cut(w, w + channels * taps);
  for (int64_t i = 0; i < channels * taps; ++i) {
    if (i % taps >= 4) cut[i] = 0;
  }
  twin::conv(x, cut.data(), channels, taps, hist, y);
}

const MutantRegistrar self{
    {.name = "conv_of_the_first_four_taps",
     .bug = "taps beyond the fourth are left out",
     .op = "conv",
     .api = &twin_with<&twin::TwinOperators::conv, conv>("conv_of_the_first_four_taps")}};

}  // namespace
}  // namespace gdn::mutants
