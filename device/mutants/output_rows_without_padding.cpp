// Bug: rows of output lie end to end, and the padding of a row that is copied later is written over
//      one that is there.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "output_rows_without_padding",
     .bug = "padding of an output is written over its neighbour",
     .op = "delta_rule",
     .api = ascend_with("output_rows_without_padding", [](ascend::Program& program) {
       program.output_pitch = [](int64_t row_bytes) { return row_bytes; };
     })}};

}  // namespace
}  // namespace gdn::mutants
