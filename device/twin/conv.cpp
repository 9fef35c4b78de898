// conv: y = sum over j of w[c][j] window_j[c], window = history oldest first, then x; a serial sum
// from zero. Output y / (1 + exp(-y)). Then the history drops its oldest row and takes x, the
// conv's input.
#include <cmath>

#include "device/twin/operators.h"

#ifdef __FAST_MATH__
#error "the twin's numbers are IEEE: build without fast math"
#endif

namespace gdn::twin {

void conv(const float* x, const float* w, int64_t channels, int64_t taps, float* hist, float* y) {
  const int64_t newest = taps - 1;
  for (int64_t c = 0; c < channels; ++c) {
    const float input = x[c];
    float sum = 0;
    for (int64_t j = 0; j < newest; ++j) sum += w[c * taps + j] * hist[j * channels + c];
    sum += w[c * taps + newest] * input;
    for (int64_t j = 0; j + 1 < newest; ++j) hist[j * channels + c] = hist[(j + 1) * channels + c];
    if (newest > 0) hist[(newest - 1) * channels + c] = input;
    y[c] = sum / (1.0F + std::exp(-sum));
  }
}

}  // namespace gdn::twin
