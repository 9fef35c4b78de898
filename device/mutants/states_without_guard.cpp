// Bug: states lie end to end, and the padding of the last row of one is written over the first of
//      the next head.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "states_without_guard",
     .bug = "padding of a state is written over that of the next head",
     .op = "delta_rule",
     .api = ascend_with("states_without_guard", [](ascend::Program& program) {
       program.state_pitch = [](int64_t state_bytes) { return state_bytes; };
     })}};

}  // namespace
}  // namespace gdn::mutants
