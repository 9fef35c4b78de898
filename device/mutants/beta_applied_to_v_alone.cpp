// Bug: beta scales v but not what is taken away: d = beta v - S^T k.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void delta_rule(const twin::DeltaRule& t) {
  // d = 1 (beta v - u).
  std::vector<float> v(t.v, t.v + t.vh * t.vd);
  for (int64_t i = 0; i < t.vh * t.vd; ++i) v[i] *= t.beta[i / t.vd];
  const std::vector<float> ones(static_cast<size_t>(t.vh), 1.0F);
  twin::DeltaRule moved = t;
  moved.v = v.data();
  moved.beta = ones.data();
  twin::delta_rule(moved);
}

const MutantRegistrar self{
    {.name = "beta_applied_to_v_alone",
     .bug = "beta scales v and not the error",
     .op = "delta_rule",
     .api = &twin_with<&twin::TwinOperators::delta_rule, delta_rule>("beta_applied_to_v_alone")}};

}  // namespace
}  // namespace gdn::mutants
