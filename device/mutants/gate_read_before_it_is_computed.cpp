// Bug: the scalar queue does not wait for the vector queue, and reads beta and exp(g) before they
//      are there.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "gate_read_before_it_is_computed",
     .bug = "the scalar queue reads a gate that has not landed",
     .op = "delta_rule",
     .api = ascend_without("gate_read_before_it_is_computed", ascend::Order::gates_computed)}};

}  // namespace
}  // namespace gdn::mutants
