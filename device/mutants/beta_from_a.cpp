// Bug: the two gate projections are swapped, beta comes from a and the decay from b.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void gates(const float* a, const float* b, const float* A_log, const float* dt_bias, int64_t count,
           float* beta, float* g) {
  twin::gates(b, a, A_log, dt_bias, count, beta, g);
}

const MutantRegistrar self{{.name = "beta_from_a",
                            .bug = "beta is computed from a and the decay from b",
                            .op = "gates",
                            .api = &twin_with<&twin::TwinOperators::gates, gates>("beta_from_a")}};

}  // namespace
}  // namespace gdn::mutants
