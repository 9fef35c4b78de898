// Bug: the decay comes after the update, so that the new k d^T decays too.
#include <cmath>

#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void delta_rule(const twin::DeltaRule& t) {
  // The right token on a state that decays already; then what it wrote decays as well.
  const std::vector<float> before(t.S, t.S + t.vh * t.kd * t.vd);
  twin::delta_rule(t);
  for (int64_t head = 0; head < t.vh; ++head) {
    const float alpha = t.g == nullptr ? 1 : t.g_is_linear ? t.g[head] : std::exp(t.g[head]);
    for (int64_t i = head * t.kd * t.vd; i < (head + 1) * t.kd * t.vd; ++i) {
      const float row = t.gk == nullptr ? 1 : std::exp(t.gk[i / t.vd]);
      const float kept = before[i] * (alpha * row);
      t.S[i] = kept + (t.S[i] - kept) * (alpha * row);
    }
  }
}

const MutantRegistrar self{{.name = "decay_applied_to_the_update",
                            .bug = "the update decays with the old state",
                            .op = "delta_rule",
                            .api = &twin_with<&twin::TwinOperators::delta_rule, delta_rule>(
                                "decay_applied_to_the_update")}};

}  // namespace
}  // namespace gdn::mutants
