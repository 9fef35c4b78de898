// Bug: the scale of a block of activations is not stored as f16.
#include "device/mutants/q8_blocks.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{{.name = "activation_scale_kept_in_float32",
                            .bug = "the scale of q8_0 activations stays float32",
                            .op = "in_proj",
                            .api = &twin_activating_with<Q8Choices{.scale_is_f16 = false}>(
                                "activation_scale_kept_in_float32")}};

}  // namespace
}  // namespace gdn::mutants
