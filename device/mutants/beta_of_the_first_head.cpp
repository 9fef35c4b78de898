// Bug: every head takes the first one's beta.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void delta_rule(const twin::DeltaRule& t) {
  const std::vector<float> first(static_cast<size_t>(t.vh), t.beta[0]);
  twin::DeltaRule alike = t;
  alike.beta = first.data();
  twin::delta_rule(alike);
}

const MutantRegistrar self{
    {.name = "beta_of_the_first_head",
     .bug = "every head has the beta of the first",
     .op = "delta_rule",
     .api = &twin_with<&twin::TwinOperators::delta_rule, delta_rule>("beta_of_the_first_head")}};

}  // namespace
}  // namespace gdn::mutants
