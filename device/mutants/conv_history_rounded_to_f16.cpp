// Bug: the history of the convolution is kept as f16.
#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "conv_history_rounded_to_f16",
     .bug = "the history of the conv is rounded to f16",
     .op = "conv",
     .api = &twin_with<&twin::TwinOperators::conv, Rounding<as_f16>::conv_history>(
         "conv_history_rounded_to_f16")}};

}  // namespace
}  // namespace gdn::mutants
