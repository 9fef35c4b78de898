// Bug: taps whose weight is 0 are skipped, so that an infinite input under one gives no NaN.
#include <cmath>
#include <vector>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void conv(const float* x, const float* w, int64_t channels, int64_t taps, float* hist, float* y) {
  std::vector<float> input(x, x + channels);
  std::vector<float> window(hist, hist + (taps - 1) * channels);
  const auto skip = [&](float& number, int64_t channel, int64_t tap) {
    if (w[channel * taps + tap] == 0 && std::isinf(number)) number = 0;
  };
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t j = 0; j < taps - 1; ++j) skip(window[j * channels + c], c, j);
    skip(input[c], c, taps - 1);
  }
  const std::vector<float> newest(x, x + channels);
  std::vector<float> right(static_cast<size_t>(channels));
  twin::conv(newest.data(), w, channels, taps, hist, right.data());
  twin::conv(input.data(), w, channels, taps, window.data(), y);
}

const MutantRegistrar self{
    {.name = "zero_tap_skips_infinite_input",
     .bug = "a tap of weight 0 is skipped, and 0 times infinity is 0",
     .op = "conv",
     .api = &twin_with<&twin::TwinOperators::conv, conv>("zero_tap_skips_infinite_input")}};

}  // namespace
}  // namespace gdn::mutants
