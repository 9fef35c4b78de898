// Activations as q8_0 blocks with one choice of the format made otherwise.
#pragma once

#include <cmath>

#include "device/mutants/mutant.h"

namespace gdn::mutants {

struct Q8Choices {
  int codes = 127;              // the largest element becomes this one
  bool halves_to_even = false;  // in place of away from zero
  bool scale_is_f16 = true;     // as it is stored
};

template <Q8Choices choices>
void round_to_q8_with(const float* x, int64_t count, float* rounded) {
  constexpr int64_t block = 32;
  for (int64_t begin = 0; begin < count; begin += block) {
    float largest = 0;
    for (int64_t i = begin; i < begin + block; ++i) largest = std::fmax(largest, std::fabs(x[i]));
    const float d = largest / static_cast<float>(choices.codes);
    const float inverse = 1.0F / d;
    const float id = d == 0 || std::isinf(inverse) ? 0.0F : inverse;
    const float stored = choices.scale_is_f16 ? twin::f16_to_float(twin::float_to_f16(d)) : d;
    for (int64_t i = begin; i < begin + block; ++i) {
      const float code = x[i] * id;
      rounded[i] = (choices.halves_to_even ? std::nearbyint(code) : std::round(code)) * stored;
    }
  }
}

template <Q8Choices choices>
const gdn_api& twin_activating_with(const char* name) {
  return twin_with<&twin::TwinOperators::round_to_q8, &round_to_q8_with<choices>>(name);
}

}  // namespace gdn::mutants
