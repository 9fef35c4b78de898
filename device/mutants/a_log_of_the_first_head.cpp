// Bug: every head decays by the A_log of the first; equal ones hide it.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void gates(const float* a, const float* b, const float* A_log, const float* dt_bias, int64_t count,
           float* beta, float* g) {
  const std::vector<float> of_first(static_cast<size_t>(count), A_log[0]);
  twin::gates(a, b, of_first.data(), dt_bias, count, beta, g);
}

const MutantRegistrar self{
    {.name = "a_log_of_the_first_head",
     .bug = "every head takes the A_log of the first",
     .op = "gates",
     .api = &twin_with<&twin::TwinOperators::gates, gates>("a_log_of_the_first_head")}};

}  // namespace
}  // namespace gdn::mutants
