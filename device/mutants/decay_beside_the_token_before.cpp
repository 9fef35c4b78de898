// Bug: no barrier between two tokens of the vector queue.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "decay_beside_the_token_before",
     .bug = "a token decays the state that the one before is using",
     .op = "delta_rule",
     .api = ascend_without("decay_beside_the_token_before", ascend::Order::token_before_ended)}};

}  // namespace
}  // namespace gdn::mutants
