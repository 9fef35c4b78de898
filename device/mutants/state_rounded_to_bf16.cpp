// Bug: the state is stored as bf16 after each token; the output is right.
#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "state_rounded_to_bf16",
     .bug = "the state is rounded to bf16 after each token",
     .op = "delta_rule",
     .api = &twin_with<&twin::TwinOperators::delta_rule, Rounding<as_bf16>::state>(
         "state_rounded_to_bf16")}};

}  // namespace
}  // namespace gdn::mutants
