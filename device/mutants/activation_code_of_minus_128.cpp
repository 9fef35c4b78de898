// Bug: a block whose largest element is negative is scaled by -128, as 4-bit weights are by -8.
#include <cmath>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void round_to_q8(const float* x, int64_t count, float* rounded) {
  constexpr int64_t block = 32;
  for (int64_t begin = 0; begin < count; begin += block) {
    float largest = 0;
    for (int64_t i = begin; i < begin + block; ++i) largest = std::fmax(largest, std::fabs(x[i]));
    const float d = largest / 128.0F;
    const float inverse = 1.0F / d;
    const float id = d == 0 || std::isinf(inverse) ? 0.0F : inverse;
    const float stored = twin::f16_to_float(twin::float_to_f16(d));
    for (int64_t i = begin; i < begin + block; ++i) rounded[i] = std::round(x[i] * id) * stored;
  }
}

const MutantRegistrar self{{.name = "activation_code_of_minus_128",
                            .bug = "activations are scaled by "
                                   "128 in place of 127",
                            .op = "in_proj",
                            .api = &twin_with<&twin::TwinOperators::round_to_q8, round_to_q8>(
                                "activation_code_of_minus_128")}};

}  // namespace
}  // namespace gdn::mutants
