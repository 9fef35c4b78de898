// Bug: beta is made with a tanh of 11 bits, as the fast instruction gives.
#include <bit>
#include <cmath>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void gates(const float* a, const float* b, const float* A_log, const float* dt_bias, int64_t count,
           float* beta, float* g) {
  twin::gates(a, b, A_log, dt_bias, count, beta, g);
  for (int64_t i = 0; i < count; ++i) {
    const float exact = std::tanh(b[i] / 2);
    const float coarse = std::bit_cast<float>(std::bit_cast<uint32_t>(exact) & 0xffffe000U);
    beta[i] = 0.5F + 0.5F * coarse;
  }
}

const MutantRegistrar self{
    {.name = "sigmoid_of_a_coarse_tanh",
     .bug = "beta comes from a tanh of 11 bits",
     .op = "gates",
     .api = &twin_with<&twin::TwinOperators::gates, gates>("sigmoid_of_a_coarse_tanh")}};

}  // namespace
}  // namespace gdn::mutants
