// Bug: the copy out of a tile does not wait for the copy in of the next, into which the padding of
//      its last row reaches where a sequence is stored to the slot that it started from.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "state_stored_over_its_prefetch",
     .bug = "a store reaches into the tile that is still being read",
     .op = "delta_rule",
     .api = ascend_without("state_stored_over_its_prefetch", ascend::Order::prefetched_first)}};

}  // namespace
}  // namespace gdn::mutants
