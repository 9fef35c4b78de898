// Bug: the copy out of a state does not wait for the vector queue that rounds it into the slot.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "state_copied_before_it_is_rounded",
     .bug = "a state is copied out before it is in its slot",
     .op = "delta_rule",
     .api = ascend_without("state_copied_before_it_is_rounded", ascend::Order::state_rounded)}};

}  // namespace
}  // namespace gdn::mutants
