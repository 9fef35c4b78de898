// Bug: the largest element of a block becomes 128, which no code is.
#include "device/mutants/q8_blocks.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "activation_code_of_minus_128",
     .bug = "activations are scaled by 128 in place of 127",
     .op = "in_proj",
     .api = &twin_activating_with<Q8Choices{.codes = 128}>("activation_code_of_minus_128")}};

}  // namespace
}  // namespace gdn::mutants
