// Bug: the scale of q, which is done once a sequence, is done once a tile.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "q_scaled_for_each_tile",
     .bug = "q is scaled again for every tile",
     .op = "delta_rule",
     .api = ascend_with("q_scaled_for_each_tile", [](ascend::Program& program) {
       program.scales_q = [](int64_t) { return true; };
     })}};

}  // namespace
}  // namespace gdn::mutants
