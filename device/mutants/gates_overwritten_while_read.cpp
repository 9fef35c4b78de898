// Bug: the gates of the next sequence are copied in without waiting until the scalar queue has read
//      these.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "gates_overwritten_while_read",
     .bug = "the next gates are copied in before these are read",
     .op = "delta_rule",
     .api = ascend_without("gates_overwritten_while_read", ascend::Order::gates_read)}};

}  // namespace
}  // namespace gdn::mutants
