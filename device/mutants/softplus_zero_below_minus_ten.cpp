// Bug: softplus(x) is taken as 0 below -10: a head there never forgets.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void gates(const float* a, const float* b, const float* A_log, const float* dt_bias, int64_t count,
           float* beta, float* g) {
  twin::gates(a, b, A_log, dt_bias, count, beta, g);
  for (int64_t i = 0; i < count; ++i) {
    if (a[i] + dt_bias[i] < -10.0F) g[i] = -0.0F;
  }
}

const MutantRegistrar self{
    {.name = "softplus_zero_below_minus_ten",
     .bug = "softplus is zero below -10",
     .op = "gates",
     .api = &twin_with<&twin::TwinOperators::gates, gates>("softplus_zero_below_minus_ten")}};

}  // namespace
}  // namespace gdn::mutants
