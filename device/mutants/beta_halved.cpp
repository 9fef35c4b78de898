// Bug: only half of the error is written; a state that is nearly right hides it.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void delta_rule(const twin::DeltaRule& t) {
  std::vector<float> beta(t.beta, t.beta + t.vh);
  for (float& x : beta) x /= 2;
  twin::DeltaRule other = t;
  other.beta = beta.data();
  twin::delta_rule(other);
}

const MutantRegistrar self{
    {.name = "beta_halved",
     .bug = "beta counts half",
     .op = "delta_rule",
     .api = &twin_with<&twin::TwinOperators::delta_rule, delta_rule>("beta_halved")}};

}  // namespace
}  // namespace gdn::mutants
