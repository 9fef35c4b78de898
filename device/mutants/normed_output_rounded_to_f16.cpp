// Bug: what the gated norm gives is stored as f16.
#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "normed_output_rounded_to_f16",
     .bug = "the output of the gated norm is rounded to f16",
     .op = "gated_norm",
     .api = &twin_with<&twin::TwinOperators::gated_norm, Rounding<as_f16>::normed>(
         "normed_output_rounded_to_f16")}};

}  // namespace
}  // namespace gdn::mutants
