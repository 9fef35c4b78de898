// Bug: the slot that a state is stored to is not moved on from token to token.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "every_state_to_the_first_slot",
     .bug = "every state is stored to the slot of the first token",
     .op = "host",
     .api = ascend_with("every_state_to_the_first_slot", [](ascend::Program& program) {
       program.store_index = [](int64_t first_token, int64_t) { return first_token; };
     })}};

}  // namespace
}  // namespace gdn::mutants
