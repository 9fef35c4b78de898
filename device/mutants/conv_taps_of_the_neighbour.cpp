// Bug: the last channel is convolved with the taps of the one before it.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void conv(const float* x, const float* w, int64_t channels, int64_t taps, float* hist, float* y) {
  std::vector<float> taken(w, w + channels * taps);
  for (int64_t j = 0; j < taps && channels > 1; ++j) {
    taken[(channels - 1) * taps + j] = w[(channels - 2) * taps + j];
  }
  twin::conv(x, taken.data(), channels, taps, hist, y);
}

const MutantRegistrar self{
    {.name = "conv_taps_of_the_neighbour",
     .bug = "the last channel has the taps of its neighbour",
     .op = "conv",
     .api = &twin_with<&twin::TwinOperators::conv, conv>("conv_taps_of_the_neighbour")}};

}  // namespace
}  // namespace gdn::mutants
