// Bug: float32 weights are kept as bf16.
#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "weights_rounded_to_bf16",
     .bug = "the weights of a float32 projection are rounded to bf16",
     .op = "in_proj",
     .api = &twin_with<&twin::TwinOperators::project_f32, Rounding<as_bf16>::weights>(
         "weights_rounded_to_bf16")}};

}  // namespace
}  // namespace gdn::mutants
