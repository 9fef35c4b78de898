// Bug: softplus is taken of a alone.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void gates(const float* a, const float* b, const float* A_log, const float*, int64_t count,
           float* beta, float* g) {
  const std::vector<float> none(static_cast<size_t>(count));
  twin::gates(a, b, A_log, none.data(), count, beta, g);
}

const MutantRegistrar self{
    {.name = "dt_bias_left_out",
     .bug = "dt_bias is not added to a",
     .op = "gates",
     .api = &twin_with<&twin::TwinOperators::gates, gates>("dt_bias_left_out")}};

}  // namespace
}  // namespace gdn::mutants
