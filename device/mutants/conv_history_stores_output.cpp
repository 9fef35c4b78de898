// Bug: the history takes the conv's output where it should take its input.
#include <cstring>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void conv(const float* x, const float* w, int64_t channels, int64_t taps, float* hist, float* y) {
  twin::conv(x, w, channels, taps, hist, y);
  if (taps < 2) return;
  std::memcpy(hist + (taps - 2) * channels, y, static_cast<size_t>(channels) * sizeof(float));
}

const MutantRegistrar self{
    {.name = "conv_history_stores_output",
     .bug = "the conv history takes the output in place of the input",
     .op = "conv",
     .api = &twin_with<&twin::TwinOperators::conv, conv>("conv_history_stores_output")}};

}  // namespace
}  // namespace gdn::mutants
