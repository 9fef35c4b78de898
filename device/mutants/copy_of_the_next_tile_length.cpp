// Bug: results that are copied at the end of a tile take the length of the tile that comes next, so
//      that before a short last one some are left behind.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "copy_of_the_next_tile_length",
     .bug = "a copy that waits takes the length of the next tile",
     .op = "delta_rule",
     .api = ascend_with("copy_of_the_next_tile_length", [](ascend::Program& program) {
       program.copied_rows = [](int64_t, int64_t now) { return now; };
     })}};

}  // namespace
}  // namespace gdn::mutants
