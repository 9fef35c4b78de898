// Bug: the taps of the history meet the frames before theirs, the oldest tap nothing.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void conv(const float* x, const float* w, int64_t channels, int64_t taps, float* hist, float* y) {
  std::vector<float> late(static_cast<size_t>(channels * (taps - 1)), 0.0F);
  if (taps > 2) {
    const size_t frames = static_cast<size_t>(channels * (taps - 2));
    std::memcpy(late.data() + channels, hist, frames * sizeof(float));
  }
  twin::conv(x, w, channels, taps, hist, y);
  twin::conv(x, w, channels, taps, late.data(), y);
}

const MutantRegistrar self{
    {.name = "conv_one_frame_late",
     .bug = "the conv reads its history one frame late",
     .op = "conv",
     .api = &twin_with<&twin::TwinOperators::conv, conv>("conv_one_frame_late")}};

}  // namespace
}  // namespace gdn::mutants
