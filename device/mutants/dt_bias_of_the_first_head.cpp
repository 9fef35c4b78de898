// Bug: every head takes the first one's dt_bias.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void gates(const float* a, const float* b, const float* A_log, const float* dt_bias, int64_t count,
           float* beta, float* g) {
  const std::vector<float> first(static_cast<size_t>(count), dt_bias[0]);
  twin::gates(a, b, A_log, first.data(), count, beta, g);
}

const MutantRegistrar self{
    {.name = "dt_bias_of_the_first_head",
     .bug = "every head has the dt_bias of the first",
     .op = "gates",
     .api = &twin_with<&twin::TwinOperators::gates, gates>("dt_bias_of_the_first_head")}};

}  // namespace
}  // namespace gdn::mutants
