// Bug: every token is written in full, whatever its beta.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void delta_rule(const twin::DeltaRule& t) {
  std::vector<float> beta(t.beta, t.beta + t.vh);
  for (float& x : beta) x = 1;
  twin::DeltaRule other = t;
  other.beta = beta.data();
  twin::delta_rule(other);
}

const MutantRegistrar self{
    {.name = "beta_ignored",
     .bug = "beta is taken as 1",
     .op = "delta_rule",
     .api = &twin_with<&twin::TwinOperators::delta_rule, delta_rule>("beta_ignored")}};

}  // namespace
}  // namespace gdn::mutants
