// Bug: a and b change places: beta is made of a, the decay of b.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void gates(const float* a, const float* b, const float* A_log, const float* dt_bias, int64_t count,
           float* beta, float* g) {
  twin::gates(b, a, A_log, dt_bias, count, beta, g);
}

const MutantRegistrar self{
    {.name = "a_and_b_swapped",
     .bug = "beta is taken from a, the decay from b",
     .op = "gates",
     .api = &twin_with<&twin::TwinOperators::gates, gates>("a_and_b_swapped")}};

}  // namespace
}  // namespace gdn::mutants
