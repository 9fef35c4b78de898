// Bug: softplus(x) is taken as x from 10 on, which drops exp(-10).
#include <cmath>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void gates(const float* a, const float* b, const float* A_log, const float* dt_bias, int64_t count,
           float* beta, float* g) {
  twin::gates(a, b, A_log, dt_bias, count, beta, g);
  for (int64_t i = 0; i < count; ++i) {
    const float x = a[i] + dt_bias[i];
    if (x > 10.0F) g[i] = -std::exp(A_log[i]) * x;
  }
}

const MutantRegistrar self{
    {.name = "softplus_linear_above_ten",
     .bug = "softplus is linear above 10 in place of 20",
     .op = "gates",
     .api = &twin_with<&twin::TwinOperators::gates, gates>("softplus_linear_above_ten")}};

}  // namespace
}  // namespace gdn::mutants
