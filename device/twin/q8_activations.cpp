// Activations as q8_0: 32 values, d = amax / 127, id = 1 / d (0 where d is 0 or 1 / d overflows),
// code = fl(x id) rounded half away from zero, value = code f16(d). The code stays a float, so that
// a NaN or an infinity in the block comes out as NaN and meets no integer conversion.
#include <cmath>

#include "device/twin/formats.h"
#include "device/twin/operators.h"

#ifdef __FAST_MATH__
#error "the twin's numbers are IEEE: build without fast math"
#endif

namespace gdn::twin {

void round_to_q8(const float* x, int64_t count, float* rounded) {
  constexpr int64_t block = 32;
  for (int64_t begin = 0; begin < count; begin += block) {
    float largest = 0;
    for (int64_t i = begin; i < begin + block; ++i) {
      if (std::fabs(x[i]) > largest) largest = std::fabs(x[i]);
    }
    const float d = largest / 127.0F;
    const float inverse = 1.0F / d;
    const float id = d == 0 || std::isinf(inverse) ? 0.0F : inverse;
    const float stored = f16_to_float(float_to_f16(d));
    for (int64_t i = begin; i < begin + block; ++i) rounded[i] = std::round(x[i] * id) * stored;
  }
}

}  // namespace gdn::twin
