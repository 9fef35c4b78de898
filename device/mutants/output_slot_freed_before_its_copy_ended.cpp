// Bug: the slot of an output is taken to be free as soon as its copy has been issued.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{{.name = "output_slot_freed_before_its_copy_ended",
                            .bug = "an output is rounded into a slot that is still being copied",
                            .op = "delta_rule",
                            .api = ascend_without("output_slot_freed_before_its_copy_ended",
                                                  ascend::Order::output_slot_free)}};

}  // namespace
}  // namespace gdn::mutants
