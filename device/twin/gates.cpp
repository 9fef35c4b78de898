// beta = 1 / (1 + exp(-b)); x = a + dt_bias; g = -exp(A_log) softplus(x), softplus(x) = x above 20
// and log1p(exp(x)) from -20 to 20. Below -20 softplus(x) is exp(x), and g = -exp(A_log + x): one
// exponential, so that exp(A_log) = inf never meets exp(x) = 0. (A_log = 100, x = -200 gives
// -exp(-100), a decay of 1; A_log = 100, x = 5 gives -inf, as the exact value does in float32.)
#include <cmath>

#include "device/twin/operators.h"

#ifdef __FAST_MATH__
#error "the twin's numbers are IEEE: build without fast math"
#endif

namespace gdn::twin {
namespace {

float log_decay(float x, float A_log) {
  if (x < -20.0F) return -std::exp(A_log + x);
  const float softplus = x > 20.0F ? x : std::log1p(std::exp(x));
  return -std::exp(A_log) * softplus;
}

}  // namespace

void gates(const float* a, const float* b, const float* A_log, const float* dt_bias, int64_t count,
           float* beta, float* g) {
  for (int64_t i = 0; i < count; ++i) {
    const float decay = log_decay(a[i] + dt_bias[i], A_log[i]);
    const float gate = 1.0F / (1.0F + std::exp(-b[i]));
    beta[i] = gate;
    g[i] = decay;
  }
}

}  // namespace gdn::twin
