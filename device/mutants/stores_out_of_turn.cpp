// Bug: no barrier between copies out, of which each writes over the padding of the one before, and
//      the last to one place is what stays.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "stores_out_of_turn",
     .bug = "copies out that overlap run beside each other",
     .op = "delta_rule",
     .api = ascend_without("stores_out_of_turn", ascend::Order::stores_in_turn)}};

}  // namespace
}  // namespace gdn::mutants
