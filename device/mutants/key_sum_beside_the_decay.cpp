// Bug: no barrier between the decay of the channels and the sum u.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "key_sum_beside_the_decay",
     .bug = "the sum over keys reads a state that is decaying",
     .op = "delta_rule",
     .api = ascend_without("key_sum_beside_the_decay", ascend::Order::channels_decayed)}};

}  // namespace
}  // namespace gdn::mutants
