// Bug: halves go to the even code in place of away from zero.
#include "device/mutants/q8_blocks.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{{.name = "activation_codes_rounded_to_even",
                            .bug = "codes of activations are rounded half to even",
                            .op = "in_proj",
                            .api = &twin_activating_with<Q8Choices{.halves_to_even = true}>(
                                "activation_codes_rounded_to_even")}};

}  // namespace
}  // namespace gdn::mutants
