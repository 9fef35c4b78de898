// Bug: v is taken as bf16 by the recurrence.
#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "values_rounded_to_bf16",
     .bug = "the recurrence takes v rounded to bf16",
     .op = "delta_rule",
     .api = &twin_with<&twin::TwinOperators::delta_rule, Rounding<as_bf16>::values>(
         "values_rounded_to_bf16")}};

}  // namespace
}  // namespace gdn::mutants
