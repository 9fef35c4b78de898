// Bug: no barrier between the decay of the head and that of the channels.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "channel_decay_beside_head_decay",
     .bug = "the two decays run beside each other",
     .op = "delta_rule",
     .api = ascend_without("channel_decay_beside_head_decay", ascend::Order::state_decayed)}};

}  // namespace
}  // namespace gdn::mutants
