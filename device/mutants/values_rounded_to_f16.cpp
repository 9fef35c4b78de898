// Bug: v is taken as f16 by the recurrence.
#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "values_rounded_to_f16",
     .bug = "the recurrence takes v rounded to f16",
     .op = "delta_rule",
     .api = &twin_with<&twin::TwinOperators::delta_rule, Rounding<as_f16>::values>(
         "values_rounded_to_f16")}};

}  // namespace
}  // namespace gdn::mutants
