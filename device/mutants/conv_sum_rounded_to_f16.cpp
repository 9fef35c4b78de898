// Bug: the sum over the taps is rounded to f16 before SiLU.
#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "conv_sum_rounded_to_f16",
     .bug = "the sum over the taps is rounded to f16 before SiLU",
     .op = "conv",
     .api = &twin_with<&twin::TwinOperators::conv, Rounding<as_f16>::conv_sum>(
         "conv_sum_rounded_to_f16")}};

}  // namespace
}  // namespace gdn::mutants
