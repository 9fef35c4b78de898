// Bug: beta is b as it is projected.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void gates(const float* a, const float* b, const float* A_log, const float* dt_bias, int64_t count,
           float* beta, float* g) {
  const std::vector<float> raw(b, b + count);
  twin::gates(a, b, A_log, dt_bias, count, beta, g);
  std::memcpy(beta, raw.data(), raw.size() * sizeof(float));
}

const MutantRegistrar self{
    {.name = "beta_without_sigmoid",
     .bug = "beta is b without the sigmoid",
     .op = "gates",
     .api = &twin_with<&twin::TwinOperators::gates, gates>("beta_without_sigmoid")}};

}  // namespace
}  // namespace gdn::mutants
