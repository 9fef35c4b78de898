// Bug: a head whose beta is below 1/1024 is not updated.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void gates(const float* a, const float* b, const float* A_log, const float* dt_bias, int64_t count,
           float* beta, float* g) {
  twin::gates(a, b, A_log, dt_bias, count, beta, g);
  for (int64_t i = 0; i < count; ++i) {
    if (beta[i] < 0x1p-10F) beta[i] = 0;
  }
}

const MutantRegistrar self{
    {.name = "small_beta_taken_as_zero",
     .bug = "beta below 1/1024 is taken as 0",
     .op = "gates",
     .api = &twin_with<&twin::TwinOperators::gates, gates>("small_beta_taken_as_zero")}};

}  // namespace
}  // namespace gdn::mutants
