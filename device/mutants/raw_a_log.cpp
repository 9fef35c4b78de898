// Bug: A_log is multiplied in as it is, not as -exp(A_log): above 0 the state grows.
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
    const float softplus = at > 20 ? at : std::log1p(std::exp(at));
    g[i] = A * softplus;
  }
}

const MutantRegistrar self{{.name = "raw_a_log",
                            .bug = "the decay uses A_log where it should use -exp(A_log)",
                            .op = "gates",
                            .api = &twin_with<&twin::TwinOperators::gates, gates>("raw_a_log")}};

}  // namespace
}  // namespace gdn::mutants
