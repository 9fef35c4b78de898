// Bug: the history of the convolution is kept as bf16.
#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "conv_history_rounded_to_bf16",
     .bug = "the history of the conv is rounded to bf16",
     .op = "conv",
     .api = &twin_with<&twin::TwinOperators::conv, Rounding<as_bf16>::conv_history>(
         "conv_history_rounded_to_bf16")}};

}  // namespace
}  // namespace gdn::mutants
