// Bug: what the recurrence gives is stored as f16.
#include "device/mutants/rounded.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "recurrence_output_rounded_to_f16",
     .bug = "the output of the recurrence is rounded to f16",
     .op = "delta_rule",
     .api = &twin_with<&twin::TwinOperators::delta_rule, Rounding<as_f16>::output>(
         "recurrence_output_rounded_to_f16")}};

}  // namespace
}  // namespace gdn::mutants
