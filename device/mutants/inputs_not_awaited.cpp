// Bug: the vector queue does not wait for the inputs of a sequence, and computes with what was in
//      local memory before.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "inputs_not_awaited",
     .bug = "q, k, v and gates are used before their copies have ended",
     .op = "delta_rule",
     .api = ascend_without("inputs_not_awaited", ascend::Order::inputs_landed)}};

}  // namespace
}  // namespace gdn::mutants
