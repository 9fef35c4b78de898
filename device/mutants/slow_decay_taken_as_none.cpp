// Bug: a decay of less than 1e-4 a token is skipped: nothing is forgotten any more.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void gates(const float* a, const float* b, const float* A_log, const float* dt_bias, int64_t count,
           float* beta, float* g) {
  twin::gates(a, b, A_log, dt_bias, count, beta, g);
  for (int64_t i = 0; i < count; ++i) {
    if (g[i] > -1e-4F) g[i] = 0;
  }
}

const MutantRegistrar self{
    {.name = "slow_decay_taken_as_none",
     .bug = "a log decay above -1e-4 is taken as 0",
     .op = "gates",
     .api = &twin_with<&twin::TwinOperators::gates, gates>("slow_decay_taken_as_none")}};

}  // namespace
}  // namespace gdn::mutants
