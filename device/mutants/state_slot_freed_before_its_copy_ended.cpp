// Bug: the slot of a state is taken to be free as soon as its copy has been issued.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{{.name = "state_slot_freed_before_its_copy_ended",
                            .bug = "a state is rounded into a slot that is still being copied",
                            .op = "delta_rule",
                            .api = ascend_without("state_slot_freed_before_its_copy_ended",
                                                  ascend::Order::state_slot_free)}};

}  // namespace
}  // namespace gdn::mutants
