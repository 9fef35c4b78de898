// Bug: no barrier between the sum o and its rounding.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "output_rounded_beside_its_sum",
     .bug = "the output is rounded before its sum is there",
     .op = "delta_rule",
     .api = ascend_without("output_rounded_beside_its_sum", ascend::Order::output_sums_there)}};

}  // namespace
}  // namespace gdn::mutants
