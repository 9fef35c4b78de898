// Bug: the decay from one token of a chunk to a later one is taken as the quotient of those from
// its beginning: 0 / 0 where the decay is strong.
#include "device/mutants/chunked_run.h"

namespace gdn::mutants {
namespace {

float quotient(float later, float earlier) { return std::exp(later) / std::exp(earlier); }

const gdn_api api = chunked_twin<quotient, solve_by_substitution>("chunk_decay_by_quotient");
const MutantRegistrar self{
    {.name = "chunk_decay_by_quotient",
     .bug = "the decay between two tokens of a chunk is a quotient of decays from its beginning",
     .op = "delta_rule",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
