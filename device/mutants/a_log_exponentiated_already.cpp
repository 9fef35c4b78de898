// Bug: A_log is taken for A, and is -exp(A_log) to others: exp is left out.
#include <cmath>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void gates(const float* a, const float* b, const float* A_log, const float* dt_bias, int64_t count,
           float* beta, float* g) {
  std::vector<float> log_of(A_log, A_log + count);
  // Where A_log is not positive its logarithm is none, and such an engine would let the state grow.
  for (float& x : log_of) x = std::log(std::fabs(x));
  twin::gates(a, b, log_of.data(), dt_bias, count, beta, g);
  for (int64_t i = 0; i < count; ++i) {
    if (A_log[i] < 0) g[i] = -g[i];
  }
}

const MutantRegistrar self{
    {.name = "a_log_exponentiated_already",
     .bug = "A_log is used as if it were A",
     .op = "gates",
     .api = &twin_with<&twin::TwinOperators::gates, gates>("a_log_exponentiated_already")}};

}  // namespace
}  // namespace gdn::mutants
