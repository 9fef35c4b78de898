// Bug: a sequence starts from the slot of its first token, however many were accepted.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "start_slot_of_the_first_token",
     .bug = "accepted tokens are not counted",
     .op = "host",
     .api = ascend_with("start_slot_of_the_first_token", [](ascend::Program& program) {
       program.start_index = [](int64_t first_token, int64_t) { return first_token; };
     })}};

}  // namespace
}  // namespace gdn::mutants
