// Bug: below -20 exp(A_log) and exp(x) are taken apart: infinity meets 0.
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
    if (at < -20) g[i] = -std::exp(A) * std::exp(at);
  }
}

const MutantRegistrar self{
    {.name = "gate_overflow_gives_nan",
     .bug = "exp(A_log) exp(x) is inf times 0 where A_log is large and x very negative",
     .op = "gates",
     .api = &twin_with<&twin::TwinOperators::gates, gates>("gate_overflow_gives_nan")}};

}  // namespace
}  // namespace gdn::mutants
