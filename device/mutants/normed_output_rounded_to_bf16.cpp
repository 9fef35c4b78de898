// Bug: what the gated norm gives is stored as bf16.
#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "normed_output_rounded_to_bf16",
     .bug = "the output of the gated norm is rounded to bf16",
     .op = "gated_norm",
     .api = &twin_with<&twin::TwinOperators::gated_norm, Rounding<as_bf16>::normed>(
         "normed_output_rounded_to_bf16")}};

}  // namespace
}  // namespace gdn::mutants
