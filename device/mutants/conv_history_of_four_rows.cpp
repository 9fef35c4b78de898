// Bug: the conv's window is a ring of four rows, so that the fifth and later ones of a longer
// history are read as the first.
#include <algorithm>
#include <vector>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void conv(const float* x, const float* w, int64_t channels, int64_t taps, float* hist, float* y) {
  constexpr int64_t ring_rows = 4;
  std::vector<float> wrapped(hist, hist + (taps - 1) * channels);
  for (int64_t row = ring_rows; row < taps - 1; ++row) {
    const float* const read = hist + row % ring_rows * channels;
    std::copy(read, read + channels, wrapped.begin() + row * channels);
  }
  const std::vector<float> input(x, x + channels);
  twin::conv(input.data(), w, channels, taps, wrapped.data(), y);
  // What is stored is right.
  std::vector<float> unused(static_cast<size_t>(channels));
  twin::conv(input.data(), w, channels, taps, hist, unused.data());
}

const MutantRegistrar self{
    {.name = "conv_history_of_four_rows",
     .bug = "of a history of more than four rows the later ones are read as the first ones",
     .op = "conv",
     .api = &twin_with<&twin::TwinOperators::conv, conv>("conv_history_of_four_rows")}};

}  // namespace
}  // namespace gdn::mutants
