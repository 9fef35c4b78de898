// Bug: head i takes the log decay of head i + 1; the last one keeps its own.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void gates(const float* a, const float* b, const float* A_log, const float* dt_bias, int64_t count,
           float* beta, float* g) {
  twin::gates(a, b, A_log, dt_bias, count, beta, g);
  for (int64_t i = 0; i + 1 < count; ++i) g[i] = g[i + 1];
}

const MutantRegistrar self{
    {.name = "decay_of_the_next_head",
     .bug = "each head has the decay of the next",
     .op = "gates",
     .api = &twin_with<&twin::TwinOperators::gates, gates>("decay_of_the_next_head")}};

}  // namespace
}  // namespace gdn::mutants
