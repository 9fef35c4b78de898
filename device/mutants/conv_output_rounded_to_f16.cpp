// Bug: what the convolution gives is stored as f16.
#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "conv_output_rounded_to_f16",
     .bug = "the output of the conv is rounded to f16",
     .op = "conv",
     .api = &twin_with<&twin::TwinOperators::conv, Rounding<as_f16>::conv_output>(
         "conv_output_rounded_to_f16")}};

}  // namespace
}  // namespace gdn::mutants
