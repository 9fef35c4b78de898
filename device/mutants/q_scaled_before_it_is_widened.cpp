// Bug: the scale meets what was in the place of q before it was widened to float32.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "q_scaled_before_it_is_widened",
     .bug = "q is scaled beside its widening",
     .op = "delta_rule",
     .api = ascend_without("q_scaled_before_it_is_widened", ascend::Order::inputs_widened)}};

}  // namespace
}  // namespace gdn::mutants
