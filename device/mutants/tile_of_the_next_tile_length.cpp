// Bug: the length of the tile on its way is taken for that of the tile at hand, so that before a
//      short last one some rows are not computed.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "tile_of_the_next_tile_length",
     .bug = "a tile is computed with the length of the next",
     .op = "delta_rule",
     .api = ascend_with("tile_of_the_next_tile_length", [](ascend::Program& program) {
       program.computed_rows = [](int64_t, int64_t next) { return next; };
     })}};

}  // namespace
}  // namespace gdn::mutants
