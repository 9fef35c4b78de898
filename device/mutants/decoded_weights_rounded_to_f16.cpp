// Bug: 4-bit weights are decoded into f16 before they are multiplied; dequant is right.
#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "decoded_weights_rounded_to_f16",
     .bug = "decoded 4-bit weights are rounded to f16 before the product",
     .op = "in_proj",
     .api = &twin_with<&twin::TwinOperators::project_q4, Rounding<as_f16>::decoded_weights>(
         "decoded_weights_rounded_to_f16")}};

}  // namespace
}  // namespace gdn::mutants
