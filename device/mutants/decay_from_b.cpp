// Bug: g is made of b in place of a; beta is right.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void gates(const float* a, const float* b, const float* A_log, const float* dt_bias, int64_t count,
           float* beta, float* g) {
  std::vector<float> right(static_cast<size_t>(count));
  twin::gates(a, b, A_log, dt_bias, count, right.data(), g);
  std::vector<float> unused(static_cast<size_t>(count));
  twin::gates(b, b, A_log, dt_bias, count, unused.data(), g);
  for (int64_t i = 0; i < count; ++i) beta[i] = right[static_cast<size_t>(i)];
}

const MutantRegistrar self{{.name = "decay_from_b",
                            .bug = "the decay is taken from b",
                            .op = "gates",
                            .api = &twin_with<&twin::TwinOperators::gates, gates>("decay_from_b")}};

}  // namespace
}  // namespace gdn::mutants
