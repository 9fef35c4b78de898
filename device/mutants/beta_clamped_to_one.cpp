// Bug: beta above 1 is clamped to 1; a sigmoid never shows it.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void delta_rule(const twin::DeltaRule& t) {
  std::vector<float> beta(t.beta, t.beta + t.vh);
  for (float& x : beta) x = x > 1 ? 1 : x;
  twin::DeltaRule other = t;
  other.beta = beta.data();
  twin::delta_rule(other);
}

const MutantRegistrar self{
    {.name = "beta_clamped_to_one",
     .bug = "beta above 1 counts as 1",
     .op = "delta_rule",
     .api = &twin_with<&twin::TwinOperators::delta_rule, delta_rule>("beta_clamped_to_one")}};

}  // namespace
}  // namespace gdn::mutants
