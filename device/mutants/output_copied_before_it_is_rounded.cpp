// Bug: the copy out of an output does not wait for the vector queue that rounds it into the slot.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "output_copied_before_it_is_rounded",
     .bug = "an output is copied out before it is in its slot",
     .op = "delta_rule",
     .api = ascend_without("output_copied_before_it_is_rounded", ascend::Order::output_rounded)}};

}  // namespace
}  // namespace gdn::mutants
