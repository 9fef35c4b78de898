// Bug: the scale of a block of activations is not stored as f16.
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
    for (int64_t i = begin; i < begin + block; ++i) rounded[i] = std::round(x[i] * id) * d;
  }
}

const MutantRegistrar self{{.name = "activation_scale_kept_in_float32",
                            .bug = "the scale of "
                                   "q8_0 activations stays float32",
                            .op = "in_proj",
                            .api = &twin_with<&twin::TwinOperators::round_to_q8, round_to_q8>(
                                "activation_scale_kept_in_float32")}};

}  // namespace
}  // namespace gdn::mutants
