// Bug: results that wait are copied at the end of the last tile alone; those of the tiles before
//      are lost.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "results_flushed_once_a_sequence",
     .bug = "the last results of a tile are never copied",
     .op = "delta_rule",
     .api = ascend_with("results_flushed_once_a_sequence", [](ascend::Program& program) {
       program.flushes = [](int64_t tile, int64_t tiles) { return tile + 1 == tiles; };
     })}};

}  // namespace
}  // namespace gdn::mutants
