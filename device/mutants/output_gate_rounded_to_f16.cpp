// Bug: z is taken as f16 by the gated norm.
#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "output_gate_rounded_to_f16",
     .bug = "the gated norm takes z rounded to f16",
     .op = "gated_norm",
     .api = &twin_with<&twin::TwinOperators::gated_norm, Rounding<as_f16>::gate>(
         "output_gate_rounded_to_f16")}};

}  // namespace
}  // namespace gdn::mutants
