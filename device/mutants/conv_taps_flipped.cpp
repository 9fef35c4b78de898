// Bug: the first tap multiplies the newest input.
#include <algorithm>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void conv(const float* x, const float* w, int64_t channels, int64_t taps, float* hist, float* y) {
  std::vector<float> flipped(w, w + channels * taps);
  for (auto tap = flipped.begin(); tap != flipped.end(); tap += taps) {
    std::reverse(tap, tap + taps);
  }
  twin::conv(x, flipped.data(), channels, taps, hist, y);
}

const MutantRegistrar self{
    {.name = "conv_taps_flipped",
     .bug = "the taps of the conv are newest first",
     .op = "conv",
     .api = &twin_with<&twin::TwinOperators::conv, conv>("conv_taps_flipped")}};

}  // namespace
}  // namespace gdn::mutants
