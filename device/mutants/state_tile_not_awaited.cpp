// Bug: the vector queue does not wait for the tile of state that is on its way.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "state_tile_not_awaited",
     .bug = "a tile of state is used before its copy has ended",
     .op = "delta_rule",
     .api = ascend_without("state_tile_not_awaited", ascend::Order::state_landed)}};

}  // namespace
}  // namespace gdn::mutants
