// Bug: no barrier between the error and the rank-one addition.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "update_beside_its_error",
     .bug = "the state is updated with an error that is not there",
     .op = "delta_rule",
     .api = ascend_without("update_beside_its_error", ascend::Order::errors_there)}};

}  // namespace
}  // namespace gdn::mutants
