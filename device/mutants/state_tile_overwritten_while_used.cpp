// Bug: the tile after the next is copied into a slot that has not been widened yet.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "state_tile_overwritten_while_used",
     .bug = "a tile of state is copied over one that is in use",
     .op = "delta_rule",
     .api = ascend_without("state_tile_overwritten_while_used", ascend::Order::state_consumed)}};

}  // namespace
}  // namespace gdn::mutants
