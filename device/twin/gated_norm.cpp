// gated_norm, per v-head: o / sqrt(mean(o^2) + eps) w silu(z), the mean a serial sum from zero over
// vd, silu(z) = z / (1 + exp(-z)); factors are applied in this order.
#include <cmath>

#include "device/twin/operators.h"

#ifdef __FAST_MATH__
#error "the twin's numbers are IEEE: build without fast math"
#endif

namespace gdn::twin {

void gated_norm(const GatedNorm& in, float* y) {
  for (int64_t head = 0; head < in.heads; ++head) {
    const float* o = in.o + head * in.dim;
    const float* z = in.z + head * in.dim;
    float sum = 0;
    for (int64_t i = 0; i < in.dim; ++i) sum += o[i] * o[i];
    const float root = std::sqrt(sum / static_cast<float>(in.dim) + in.eps);
    for (int64_t i = 0; i < in.dim; ++i) {
      const float gate = z[i] / (1.0F + std::exp(-z[i]));
      y[head * in.dim + i] = o[i] / root * in.w[i] * gate;
    }
  }
}

}  // namespace gdn::twin
