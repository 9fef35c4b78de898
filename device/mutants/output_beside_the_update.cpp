// Bug: no barrier between the rank-one addition and what reads the new state.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "output_beside_the_update",
     .bug = "the output reads a state that is being updated",
     .op = "delta_rule",
     .api = ascend_without("output_beside_the_update", ascend::Order::state_updated)}};

}  // namespace
}  // namespace gdn::mutants
