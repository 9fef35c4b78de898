// Bug: both branches of softplus are added up under weights 0 and 1: 0 times infinity.
#include <cmath>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void gates(const float* a, const float* b, const float* A_log, const float* dt_bias, int64_t count,
           float* beta, float* g) {
  // Outputs may be inputs: what goes into the decay is kept.
  const std::vector<float> amplitude(A_log, A_log + count);
  std::vector<float> x(a, a + count);
  for (int64_t i = 0; i < count; ++i) x[static_cast<size_t>(i)] += dt_bias[i];
  twin::gates(a, b, A_log, dt_bias, count, beta, g);
  for (int64_t i = 0; i < count; ++i) {
    const float at = x[static_cast<size_t>(i)];
    const float A = amplitude[static_cast<size_t>(i)];
    const float above = at > 20 ? 1.0F : 0.0F;
    const float softplus = above * at + (1 - above) * std::log1p(std::exp(at));
    if (at >= -20) g[i] = -std::exp(A) * softplus;
  }
}

const MutantRegistrar self{
    {.name = "softplus_blends_both_branches",
     .bug = "softplus blends its branches by a mask, and is NaN above 88.7",
     .op = "gates",
     .api = &twin_with<&twin::TwinOperators::gates, gates>("softplus_blends_both_branches")}};

}  // namespace
}  // namespace gdn::mutants
