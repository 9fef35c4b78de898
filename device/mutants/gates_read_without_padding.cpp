// Bug: rows of gates are taken to be as long as in global memory, so that those of later tokens are
//      exponentials of padding.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{
    {.name = "gates_read_without_padding",
     .bug = "gates of later tokens are read from padding",
     .op = "delta_rule",
     .api = ascend_with("gates_read_without_padding", [](ascend::Program& program) {
       program.gate_index = [](int64_t token, int64_t head, int64_t v_heads, int64_t) {
         return token * v_heads + head;
       };
     })}};

}  // namespace
}  // namespace gdn::mutants
