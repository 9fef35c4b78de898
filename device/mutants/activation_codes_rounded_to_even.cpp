// Bug: halves go to the even code in place of away from zero.
#include <cmath>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void round_to_q8(const float* x, int64_t count, float* rounded) {
  constexpr int64_t block = 32;
  for (int64_t begin = 0; begin < count; begin += block) {
    float largest = 0;
    for (int64_t i = begin; i < begin + block; ++i) largest = std::fmax(largest, std::fabs(x[i]));
    const float d = largest / 127.0F;
    const float inverse = 1.0F / d;
    const float id = d == 0 || std::isinf(inverse) ? 0.0F : inverse;
    const float stored = twin::f16_to_float(twin::float_to_f16(d));
    for (int64_t i = begin; i < begin + block; ++i) rounded[i] = std::nearbyint(x[i] * id) * stored;
  }
}

const MutantRegistrar self{{.name = "activation_codes_rounded_to_even",
                            .bug = "codes of activations are "
                                   "rounded half to even",
                            .op = "in_proj",
                            .api = &twin_with<&twin::TwinOperators::round_to_q8, round_to_q8>(
                                "activation_codes_rounded_to_even")}};

}  // namespace
}  // namespace gdn::mutants
