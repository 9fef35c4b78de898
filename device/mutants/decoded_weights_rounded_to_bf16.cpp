// Bug: 4-bit weights are decoded into bf16 before they are multiplied; dequant is right.
#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "decoded_weights_rounded_to_bf16",
     .bug = "decoded 4-bit weights are rounded to bf16 before the product",
     .op = "in_proj",
     .api = &twin_with<&twin::TwinOperators::project_q4, Rounding<as_bf16>::decoded_weights>(
         "decoded_weights_rounded_to_bf16")}};

}  // namespace
}  // namespace gdn::mutants
