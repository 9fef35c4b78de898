// Bug: the activation after the convolution is left out.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void conv(const float* x, const float* w, int64_t channels, int64_t taps, float* hist, float* y) {
  std::vector<float> sums(static_cast<size_t>(channels));
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t j = 0; j + 1 < taps; ++j) sums[c] += w[c * taps + j] * hist[j * channels + c];
    sums[c] += w[c * taps + taps - 1] * x[c];
  }
  twin::conv(x, w, channels, taps, hist, y);
  for (int64_t c = 0; c < channels; ++c) y[c] = sums[c];
}

const MutantRegistrar self{
    {.name = "conv_without_silu",
     .bug = "SiLU is left out after the conv",
     .op = "conv",
     .api = &twin_with<&twin::TwinOperators::conv, conv>("conv_without_silu")}};

}  // namespace
}  // namespace gdn::mutants
