// Bug: a and b are taken as bf16.
#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "gate_inputs_rounded_to_bf16",
     .bug = "the inputs of the gates are rounded to bf16",
     .op = "gates",
     .api = &twin_with<&twin::TwinOperators::gates, Rounding<as_bf16>::gate_inputs>(
         "gate_inputs_rounded_to_bf16")}};

}  // namespace
}  // namespace gdn::mutants
