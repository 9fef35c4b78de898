// Bug: no barrier between the sum u and the error v - u.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "error_beside_its_sum",
     .bug = "the error is taken before its sum is there",
     .op = "delta_rule",
     .api = ascend_without("error_beside_its_sum", ascend::Order::key_sums_there)}};

}  // namespace
}  // namespace gdn::mutants
