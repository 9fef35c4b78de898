// Bug: what is multiplied with float32 rows is taken as f16.
#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "activations_rounded_to_f16",
     .bug = "the input of a float32 projection is rounded to f16",
     .op = "in_proj",
     .api = &twin_with<&twin::TwinOperators::project_f32, Rounding<as_f16>::activations>(
         "activations_rounded_to_f16")}};

}  // namespace
}  // namespace gdn::mutants
