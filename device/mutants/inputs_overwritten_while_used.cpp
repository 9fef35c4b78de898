// Bug: the inputs of the next sequence are copied in without waiting until those of this one have
//      been used.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "inputs_overwritten_while_used",
     .bug = "the next sequence is copied in while this one is computed",
     .op = "delta_rule",
     .api = ascend_without("inputs_overwritten_while_used", ascend::Order::inputs_consumed)}};

}  // namespace
}  // namespace gdn::mutants
