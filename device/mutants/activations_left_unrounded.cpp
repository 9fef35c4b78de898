// Bug: q8_0 activations are asked for, and float32 is used.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void round_to_q8(const float* x, int64_t count, float* rounded) {
  for (int64_t i = 0; i < count; ++i) rounded[i] = x[i];
}

const MutantRegistrar self{{.name = "activations_left_unrounded",
                            .bug = "activations stay float32 where q8_0 was asked for",
                            .op = "in_proj",
                            .api = &twin_with<&twin::TwinOperators::round_to_q8, round_to_q8>(
                                "activations_left_unrounded")}};

}  // namespace
}  // namespace gdn::mutants
