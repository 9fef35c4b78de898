// Bug: what the convolution gives is stored as bf16.
#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "conv_output_rounded_to_bf16",
     .bug = "the output of the conv is rounded to bf16",
     .op = "conv",
     .api = &twin_with<&twin::TwinOperators::conv, Rounding<as_bf16>::conv_output>(
         "conv_output_rounded_to_bf16")}};

}  // namespace
}  // namespace gdn::mutants
