// Bug: a and b are taken as f16.
#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "gate_inputs_rounded_to_f16",
     .bug = "the inputs of the gates are rounded to f16",
     .op = "gates",
     .api = &twin_with<&twin::TwinOperators::gates, Rounding<as_f16>::gate_inputs>(
         "gate_inputs_rounded_to_f16")}};

}  // namespace
}  // namespace gdn::mutants
