// Bug: the place of v is not moved on from tile to tile.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "values_of_the_first_tile",
     .bug = "every tile takes the values of the first",
     .op = "delta_rule",
     .api = ascend_with("values_of_the_first_tile", [](ascend::Program& program) {
       program.first_value = [](int64_t, int64_t) { return int64_t{0}; };
     })}};

}  // namespace
}  // namespace gdn::mutants
